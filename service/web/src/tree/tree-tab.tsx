// The tab with the drawing of the tree: folded or as an icicle, with its tools and the drawer.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Tree } from "../api/types.ts";
import { lazy } from "../parts/lazy.tsx";
import { Drawer } from "./drawer.tsx";
import { saveJson, saveSvg } from "./export.tsx";
import { folded, isLarge, levelsOpen, MAX_NODES_DRAWN, openAtFirst, opened, openLevels, openTo, visibleNodes } from "./folding.ts";
import { knownRows } from "./rows.ts";
import { useSameTree } from "./same-tree.ts";
import { type Change, depthOf } from "./shape.ts";
import { Stage } from "./stage.tsx";
import { useWidth } from "./width.ts";

const Icicle = lazy(() => import("./more.tsx").then((part) => part.Icicle));

interface Props {
  tree: Tree;
  name: string;
  changes: Map<number, Change> | undefined;
  path: number[] | undefined;
  rowsOf: string | undefined;
  selected: number | null;
  onSelect: (index: number | null) => void;
}

export function TreeTab({ tree, name, changes, path, rowsOf, selected, onSelect }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [full, toggleFull] = useFullScreen(frame);
  const drawable = tree.nodes.length <= MAX_NODES_DRAWN;
  const [wantsIcicle, setWantsIcicle] = useState<boolean | null>(null); // null until the user chooses
  const icicle = (wantsIcicle ?? !path) && !drawable;
  const width = useWidth(frame);
  const large = isLarge(tree, width);
  const [open, setOpen] = useOpen(tree, path, selected, width);
  const close = () => {
    onSelect(null);
    // The button of the drawer had the focus and is gone.
    frame.current?.querySelector<HTMLElement | SVGElement>(`.stage [data-node="${selected}"], .stage canvas`)?.focus();
  };

  const before = (
    <>
      {!drawable && (
        <div class="tabs" role="group" aria-label="Drawing">
          <button type="button" class="small" aria-pressed={icicle} onClick={() => setWantsIcicle(true)}>Icicle</button>
          <button type="button" class="small" aria-pressed={!icicle} onClick={() => setWantsIcicle(false)}>Folded tree</button>
        </div>
      )}
      {!icicle && large && <DepthSlider tree={tree} open={open} onOpen={setOpen} />}
    </>
  );
  const after = (
    <>
      <button type="button" class="small" aria-pressed={full} onClick={toggleFull}>Full screen</button>
      <button type="button" class="small" onClick={() => void saveSvg(tree, knownRows(rowsOf, tree.nodes.length), name)}>SVG</button>
      <button type="button" class="small" onClick={() => saveJson(tree, name)}>JSON</button>
    </>
  );
  const foldable = !icicle && large && selected !== null && selected > 0 && tree.nodes[selected].split;
  const drawer = selected !== null && (
    <Drawer
      tree={tree} index={selected} rowsOf={rowsOf} onClose={close}
      fold={foldable ? {
        open: open.has(selected),
        toggle: () => setOpen(open.has(selected) ? folded(tree, open, selected) : opened(tree, open, selected)),
      } : undefined}
    />
  );
  const shared = { tree, path, selected, onSelect, toolsBefore: before, toolsAfter: after, drawer };
  return (
    <div class={`tree-frame${selected !== null ? " with-drawer" : ""}${full ? " full" : ""}`} ref={frame}>
      {icicle
        ? <Icicle {...shared} />
        : (
          <Stage
            {...shared} width={width} rowsOf={rowsOf} changes={changes} open={open} whole={!large || path !== undefined}
            onOpen={(index) => setOpen(opened(tree, open, index))}
          />
        )}
    </div>
  );
}

/** Keeps which nodes are open. A followed path and a chosen node are always visible. */
function useOpen(tree: Tree, path: number[] | undefined, selected: number | null, width: number) {
  const large = isLarge(tree, width);
  const same = useSameTree(tree);
  const [state, setState] = useState(() => ({ same, path, large, touched: false, open: openAtFirst(tree, path, width) }));
  let { open } = state;
  if (state.same !== same || state.path !== path || (state.large !== large && !state.touched)) {
    open = openAtFirst(tree, path, width);
    if (selected !== null && selected < tree.nodes.length) open = openTo(tree, open, selected);
    setState({ same, path, large, touched: false, open });
  }
  useEffect(() => {
    if (selected === null) return;
    setState((old) => (visibleNodes(tree, old.open).includes(selected) ? old : { ...old, open: openTo(tree, old.open, selected) }));
  }, [tree, selected]);
  return [open, (next: Set<number>) => setState((old) => ({ ...old, touched: true, open: next }))] as const;
}

/** Opens levels from the top, as many as can be drawn. */
function DepthSlider({ tree, open, onOpen }: { tree: Tree; open: Set<number>; onOpen: (open: Set<number>) => void }) {
  let most = 1;
  while (most < depthOf(tree) && visibleNodes(tree, openLevels(tree, most + 1)).length <= MAX_NODES_DRAWN) most += 1;
  const levels = Math.min(levelsOpen(tree, open), most);
  return (
    <label class="depth-slider">
      Levels open
      <input
        type="range" min={0} max={most} value={levels} aria-valuetext={`${levels} of ${depthOf(tree)}`}
        onInput={(event) => onOpen(openLevels(tree, Number(event.currentTarget.value)))}
      />
      <span class="figure">{levels} of {depthOf(tree)}</span>
    </label>
  );
}

/** Shows an element on the whole screen, or in the whole window where the browser does not allow that. */
function useFullScreen(element: { current: HTMLElement | null }): [boolean, () => void] {
  const [full, setFull] = useState(false);
  useEffect(() => {
    const changed = () => setFull(document.fullscreenElement !== null && document.fullscreenElement === element.current);
    document.addEventListener("fullscreenchange", changed);
    return () => document.removeEventListener("fullscreenchange", changed);
  }, []);
  const toggle = () => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else if (full) setFull(false);
    else if (document.fullscreenEnabled) element.current!.requestFullscreen().catch(() => setFull(true));
    else setFull(true);
  };
  return [full, toggle];
}
