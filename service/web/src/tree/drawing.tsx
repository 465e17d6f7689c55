// Draws the tree: lines, boxes and marks. One node is in the tab order; arrow keys move between nodes.
import type { Tree } from "../api/types.ts";
import { counted, number } from "../format.ts";
import { unbounded } from "../quality/sentences.ts";
import type { NodeRows } from "./bars.ts";
import type { Box } from "./boxes.ts";
import type { Layout } from "./layout.ts";
import { width } from "./measure.ts";
import { BoxDrawing, type Distance } from "./nodes.tsx";
import { questionWords } from "./rules.ts";
import { type Change, className, depthsOf, leavesBelow, shareOfRows, wrongBelow, wrongWords } from "./shape.ts";

export interface Drawn {
  tree: Tree;
  boxes: Box[];
  layout: Layout;
  rows: Map<number, NodeRows>;
  distance: Distance;
  changes?: Map<number, Change>;
  lit?: Set<number>; // other nodes are dimmed
  selected?: number | null;
  active?: number; // in the tab order
  onHover?: (index: number | null) => void;
  onSelect?: (index: number) => void;
}

export function Drawing(props: Drawn) {
  return (
    <>
      <Edges {...props} />
      <g role="tree" aria-label="Nodes of the tree">
        {props.layout.nodes.map((i) => <Node key={i} index={i} {...props} />)}
      </g>
    </>
  );
}

export function Edges({ tree, boxes, layout, lit }: Drawn) {
  return (
    <g class="edges" aria-hidden="true">
      {layout.nodes.flatMap((i) => {
        if (boxes[i].kind !== "split") return [];
        const { left, right } = tree.nodes[i].split!;
        return [left, right].map((child) => (
          <Edge key={child} tree={tree} boxes={boxes} layout={layout} from={i} to={child} right={child === right} lit={lit} />
        ));
      })}
    </g>
  );
}

function Edge(
  { tree, boxes, layout, from, to, right, lit }:
  { tree: Tree; boxes: Box[]; layout: Layout; from: number; to: number; right: boolean; lit: Set<number> | undefined },
) {
  const [start, end] = [layout.spots[from], layout.spots[to]];
  const x0 = start.x + boxes[from].width * (right ? 0.65 : 0.35);
  const y0 = start.y + boxes[from].height;
  const x1 = end.x + boxes[to].width / 2;
  const bend = (y0 + end.y) / 2;
  const thick = 1.5 + (7 * tree.nodes[to].rows) / tree.nodes[0].rows;
  const state = lit === undefined ? "" : lit.has(to) ? " lit" : " dim";
  return (
    <path
      class={`edge ${right ? "side-right" : "side-left"}${state}`} stroke-width={thick.toFixed(1)}
      d={`M${x0.toFixed(1)} ${y0.toFixed(1)}C${x0.toFixed(1)} ${bend.toFixed(1)} ${x1.toFixed(1)} ${bend.toFixed(1)} ${x1.toFixed(1)} ${end.y.toFixed(1)}`}
    />
  );
}

export function Node({ index, tree, boxes, layout, rows, distance, changes, lit, selected, active, onHover, onSelect }: Drawn & { index: number }) {
  const box = boxes[index];
  const { x, y } = layout.spots[index];
  const change = box.kind === "chip" ? undefined : changes?.get(index);
  const inside = box.kind === "chip" && changedBelow(tree, index, changes);
  const words = ["node", box.kind, lit === undefined ? "" : lit.has(index) ? "lit" : "dim"];
  if (index === selected) words.push("selected");
  if (change || inside) words.push("changed");
  const name = box.kind === "chip" ? chipWords(tree, index) : nodeWords(tree, index, change);
  return (
    <g
      class={words.filter(Boolean).join(" ")} transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`} data-node={index}
      role="treeitem" aria-level={depthsOf(tree)[index] + 1} aria-selected={index === selected} tabindex={index === active ? 0 : -1}
      aria-expanded={box.kind === "leaf" ? undefined : box.kind === "split"} aria-label={name}
      onMouseEnter={() => onHover?.(index)} onMouseLeave={() => onHover?.(null)}
      onFocus={() => onHover?.(index)} onBlur={() => onHover?.(null)}
      onClick={() => onSelect?.(index)}
    >
      <title>{name}</title>
      <BoxDrawing box={box} rows={rows.get(index)} distance={distance} />
      {distance === "near" && (change || inside) && <Mark text={change ?? "changed"} />}
    </g>
  );
}

function Mark({ text }: { text: string }) {
  const room = width(text, 10, true) + 12;
  return (
    <g class="mark" transform="translate(10 -11)">
      <rect width={room} height="15" rx="7.5" />
      <text x={room / 2} y="11" font-size="10" text-anchor="middle">{text}</text>
    </g>
  );
}

/** Returns whether a node of a folded subtree changed; the nodes of a subtree follow each other. */
function changedBelow(tree: Tree, index: number, changes: Map<number, Change> | undefined): boolean {
  const end = index + 2 * leavesBelow(tree)[index] - 1;
  return [...(changes?.keys() ?? [])].some((i) => i >= index && i < end);
}

/** Describes a folded subtree. */
function chipWords(tree: Tree, index: number): string {
  const { rows } = tree.nodes[index];
  return `Folded subtree: ${counted(leavesBelow(tree)[index], "leaf", "leaves")}, ${counted(rows, "row")}, ${wrongWords(tree, wrongBelow(tree)[index])}. Open it.`;
}

function nodeWords(tree: Tree, index: number, change?: Change): string {
  const node = tree.nodes[index];
  const open = unbounded({ lower_bound: node.bound, upper_bound: node.cost }) ? "open" : `open, at least ${number(node.bound)}`;
  const proof = node.proven ? "proven" : open;
  const mark = change ? `${change}; ` : "";
  if (!node.split) {
    return `${mark}Leaf: ${className(tree, node)}, ${shareOfRows(tree, node)}; ${wrongWords(tree, node.error)}, ${proof}.`;
  }
  const { name } = tree.columns[node.split.column];
  return `${mark}${name}: ${questionWords(tree, node)}. ${counted(node.rows, "row")}; cost ${number(node.cost)}, ${proof}.`;
}
