// The details of a node beside the tree: a leaf's rule, or a split's question, with figures and rows.
import { useEffect, useRef } from "preact/hooks";
import type { Tree } from "../api/types.ts";
import { count, label, number } from "../format.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Fact } from "../parts/fact.tsx";
import { IconButton } from "../parts/icons.tsx";
import { lowerBoundWords } from "../quality/sentences.ts";
import { type NodeRows, stacks } from "./bars.ts";
import { ConditionLine } from "./condition-line.tsx";
import { type Detail, FULL } from "./detail.ts";
import { ClassBars } from "./legend.tsx";
import { useNodeRows } from "./rows.ts";
import { type Condition, conditionParts, conditionsOf, questionOf, ruleText } from "./rules.ts";
import { shareOfRows, weighted, wrongBelow } from "./shape.ts";
import { stripOf } from "./strips.ts";

interface Props {
  tree: Tree;
  index: number;
  rowsOf: string | undefined;
  onClose: () => void;
  fold?: { open: boolean; toggle: () => void }; // of a split in a folded tree
}

export function Drawer({ tree, index, rowsOf, onClose, fold }: Props) {
  const node = tree.nodes[index];
  const place = useRef<HTMLElement>(null);
  const rows = useNodeRows(node.split ? rowsOf : undefined, [index]).get(index);
  const conditions = conditionsOf(tree, index);
  // A proven subtree may have no bound of its own; a smaller bound would be confusing.
  const showsBound = !(node.proven && node.bound < node.cost);
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), [index]);
  return (
    <aside class="drawer" aria-label="Details of the node" aria-live="polite" ref={place}>
      <div class="row drawer-head">
        <h3>{node.split ? tree.columns[node.split.column].name : `Leaf: ${label(tree.classes.labels[node.label])}`}</h3>
        <span class="push"><IconButton name="close" label="Close" onClick={onClose} /></span>
      </div>
      {node.split && <Question tree={tree} index={index} rows={rows} />}
      {conditions.length > 0 && (
        <>
          <p class="quiet">{node.split ? "Rows come here if all of these hold:" : "If all of these hold:"}</p>
          <ul class="rule">{conditions.map((each) => <li><ConditionLine parts={conditionParts(tree, each)} /></li>)}</ul>
        </>
      )}
      {!node.split && (
        <>
          <p class="verdict-line">
            {conditions.length ? "then " : "Always "}<strong>{label(tree.classes.labels[node.label])}</strong>, {shareOfRows(tree, node, "training row")}
          </p>
          <div class="row"><CopyButton text={() => ruleText(tree, index)} label="Copy the rule" /></div>
        </>
      )}
      <dl class="facts">
        <Fact name="Rows">{count(node.rows)}</Fact>
        <Fact name={weighted(tree) ? "Wrong weight" : "Wrong"}>{number(wrongBelow(tree)[index])}</Fact>
        {node.split && <Fact name="Error as a leaf">{number(node.error)}</Fact>}
        <Fact name="Cost of the subtree">{number(node.cost)}</Fact>
        {showsBound && <Fact name="Lower bound">{lowerBoundWords({ lower_bound: node.bound, upper_bound: node.cost })}</Fact>}
        <Fact
          name="Subtree"
          title="Proven: no subtree of the search space is better on the node's rows. Not proven: this is not known, or was not needed to prove the whole tree."
        >{node.proven ? "proven optimal" : "not proven"}</Fact>
      </dl>
      <p class="quiet">{weighted(tree) ? "Share of the weight of the training rows" : "Share of training rows"}</p>
      <ClassBars bars={classesOf(tree, index)} most={12} label={`Share of the ${weighted(tree) ? "weight of the " : ""}node's training rows by class`} />
      {fold && <div class="row"><button type="button" class="small" onClick={fold.toggle}>{fold.open ? "Fold this subtree" : "Open this subtree"}</button></div>}
    </aside>
  );
}

const WIDE: Detail = { ...FULL, bars: 64, least: 200 };

/** The question of a split, and the node's rows over its strip. */
function Question({ tree, index, rows }: { tree: Tree; index: number; rows: NodeRows | undefined }) {
  const node = tree.nodes[index];
  const question: Condition = questionOf(tree, node);
  const strip = stripOf(tree, index, WIDE);
  const width = strip.width + 12 + WIDE.missing;
  const missing = { x: strip.width + 12, width: WIDE.missing };
  const right = node.split!.missing_right ? "side-right" : "side-left";
  return (
    <>
      <p class="quiet">Goes left if</p>
      <ul class="rule"><li><ConditionLine parts={conditionParts(tree, question)} /></li></ul>
      {rows && (
        <svg class="drawing node-bars" viewBox={`0 0 ${width} ${WIDE.bars + 34}`} role="img" aria-label={`The ${count(rows.rows)} training rows of this node by value and class`}>
          <g transform={`translate(0 ${WIDE.bars})`}>
            {stacks(rows, strip.scale, WIDE.bars - 2, missing).map((stack) => <path class={stack.style} d={stack.path} transform="translate(0 -1)" />)}
            {strip.cells.map((cell) => <rect class={cell.right ? "side-right" : "side-left"} x={cell.x} width={cell.width} height="8" />)}
            {strip.cells.slice(1).map((cell) => <rect class="cut" x={cell.x - 0.75} width="1.5" height="8" />)}
            <rect class={right} x={missing.x} width={missing.width} height="8" rx="2" />
            {strip.labels.map((each) => <text class={each.soft ? "soft" : "ink"} x={each.x} y={each.y + 6} font-size="11" text-anchor="middle">{each.text}</text>)}
            <text class="soft" x={missing.x + missing.width / 2} y="22" font-size="10" text-anchor="middle">missing</text>
          </g>
        </svg>
      )}
    </>
  );
}

function classesOf(tree: Tree, node: number) {
  const bars = tree.nodes[node].counts.map((weight, index) => ({ index, name: label(tree.classes.labels[index]), weight }));
  return bars.filter((bar) => bar.weight > 0).sort((a, b) => b.weight - a.weight);
}
