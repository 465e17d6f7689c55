// The view of a tree: its drawing, its rules and its features.
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Dataset, Tree } from "../api/types.ts";
import { lazy } from "../parts/lazy.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { keepInLink, place } from "../router.ts";
import { useSameTree } from "./same-tree.ts";
import { type Change, leavesBelow } from "./shape.ts";
import { TreeTab } from "./tree-tab.tsx";

const RulesTable = lazy(() => import("./more.tsx").then((part) => part.RulesTable));
const Features = lazy(() => import("./more.tsx").then((part) => part.Features));

const TABS = { tree: "Tree", rules: "Rules", features: "Features" };
type Tab = keyof typeof TABS;
const MAX_LEAVES_BESIDE = 6; // a tree with more leaves needs the width of the window

interface TreeViewProps {
  tree: Tree;
  name: string; // for exported files
  dataset?: Dataset;
  changes?: Map<number, Change>;
  path?: number[]; // always highlighted
  rowsOf?: string; // the address of the tree, below which the rows of its nodes are
  children?: ComponentChildren; // next to the tools
}

/** Returns whether the view has one tree, whose tab and node are kept in the link. */
function alone(): boolean {
  const { path } = place.value;
  return path[0] !== "compare" && !path[1]?.includes(",");
}

function nodeInLink(tree: Tree): number | null {
  const text = alone() ? place.value.query.get("node") : null;
  const index = text === null || text === "" ? NaN : Number(text);
  return Number.isInteger(index) && index >= 0 && index < tree.nodes.length ? index : null;
}

function tabInLink(): Tab {
  const tab = alone() ? place.value.query.get("tab") : null;
  return tab !== null && tab in TABS ? (tab as Tab) : "tree";
}

/** Returns whether the rows of the nodes can be counted: a dataset may be deleted, or belong to another tree. */
function hasColumns(dataset: Dataset | undefined, tree: Tree): boolean {
  const names = new Set(dataset?.columns.map((column) => column.name));
  return tree.nodes.every(({ split }) => !split || names.has(tree.columns[split.column].name));
}

export function TreeView({ tree, name, dataset, changes, path, rowsOf, children }: TreeViewProps) {
  const [tab, setTab] = useState<Tab>(tabInLink);
  const [selected, setSelected] = useState<number | null>(() => nodeInLink(tree));
  const same = useSameTree(tree);
  const shown = useRef(same);
  const keep = (entries: Record<string, string | null>) => void (alone() && keepInLink(entries));

  const choose = useCallback((index: number | null) => {
    setSelected(index);
    keep({ node: index === null ? null : String(index) });
  }, []);
  const turn = useCallback((next: Tab) => {
    setTab(next);
    keep({ tab: next === "tree" ? null : next });
  }, []);
  const showNode = useCallback((index: number) => {
    choose(index);
    turn("tree");
  }, []);
  useEffect(() => {
    if (shown.current !== same) choose(null); // another tree has other nodes
    shown.current = same;
  }, [same]);

  const counted = useMemo(() => dataset !== undefined && hasColumns(dataset, tree), [dataset, tree]);
  const within = selected !== null && selected < tree.nodes.length ? selected : null;
  return (
    <div class={`tree-view${leavesBelow(tree)[0] > MAX_LEAVES_BESIDE ? " wide" : ""}`}>
      {children && <div class="row">{children}</div>}
      <Tabs label="Views of the tree" names={TABS} value={tab} onValue={turn}>
        {tab === "tree" && (
          <TreeTab
            tree={tree} name={name} changes={changes} path={path} rowsOf={counted ? rowsOf : undefined}
            selected={within} onSelect={choose}
          />
        )}
        {tab === "rules" && <RulesTable tree={tree} name={name} onNode={showNode} />}
        {tab === "features" && <Features tree={tree} dataset={dataset} onNode={showNode} />}
      </Tabs>
    </div>
  );
}
