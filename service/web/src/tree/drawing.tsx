// Draws the tree: lines, boxes and marks. One node is in the tab order; arrow keys move between nodes.
import type { Tree } from "../api/types.ts";
import { counted, number, percent } from "../format.ts";
import type { Box } from "./boxes.ts";
import type { Layout } from "./layout.ts";
import { width } from "./measure.ts";
import { BoxDrawing } from "./nodes.tsx";
import { type Change, className, questionWords, share } from "./shape.ts";

interface Props {
  tree: Tree;
  boxes: Box[];
  layout: Layout;
  depths: number[];
  changes: Map<number, Change> | undefined;
  lit: Set<number> | undefined; // other nodes are dimmed
  selected: number | null;
  active: number; // in the tab order
  onHover: (index: number | null) => void;
  onSelect: (index: number) => void;
}

export function Drawing(props: Props) {
  const { tree, boxes, layout, lit } = props;
  return (
    <>
      <g class="edges" aria-hidden="true">
        {tree.nodes.flatMap((node, i) => (node.split
          ? [node.split.left, node.split.right].map((child, right) => (
            <Edge key={child} tree={tree} boxes={boxes} layout={layout} from={i} to={child} right={right === 1} lit={lit} />
          ))
          : []))}
      </g>
      <g role="tree" aria-label="Nodes of the tree">
        {tree.nodes.map((_, i) => <Node key={i} index={i} {...props} />)}
      </g>
    </>
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
      d={`M${x0} ${y0}C${x0} ${bend} ${x1} ${bend} ${x1} ${end.y}`}
    />
  );
}

function Node({ index, tree, boxes, layout, depths, changes, lit, selected, active, onHover, onSelect }: Props & { index: number }) {
  const box = boxes[index];
  const { x, y } = layout.spots[index];
  const change = changes?.get(index);
  const words = ["node", box.kind, lit === undefined ? "" : lit.has(index) ? "lit" : "dim"];
  if (index === selected) words.push("selected");
  if (change) words.push("changed");
  return (
    <g
      class={words.filter(Boolean).join(" ")} transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`} data-node={index}
      role="treeitem" aria-level={depths[index] + 1} aria-selected={index === selected} tabindex={index === active ? 0 : -1}
      aria-label={nodeWords(tree, index, change)}
      onMouseEnter={() => onHover(index)} onMouseLeave={() => onHover(null)}
      onFocus={() => onHover(index)} onBlur={() => onHover(null)}
      onClick={() => onSelect(index)}
    >
      <title>{nodeWords(tree, index, change)}</title>
      <BoxDrawing box={box} />
      {change && <Mark text={change} />}
    </g>
  );
}

function Mark({ text }: { text: string }) {
  const room = width(text, 10, true) + 12;
  return (
    <g class="mark" transform="translate(10 -8)">
      <rect width={room} height="15" rx="7.5" />
      <text x={room / 2} y="11" font-size="10" text-anchor="middle">{text}</text>
    </g>
  );
}

export function nodeWords(tree: Tree, index: number, change?: Change): string {
  const node = tree.nodes[index];
  const proof = node.proven ? "proven" : `open, at least ${number(node.bound)}`;
  const mark = change ? `${change}; ` : "";
  if (!node.split) {
    return `${mark}Leaf: ${className(tree, node)}, ${percent(share(node))} of ${counted(node.rows, "row")}; ${number(node.error)} wrong, ${proof}.`;
  }
  const { name } = tree.columns[node.split.column];
  return `${mark}${name}: ${questionWords(tree, node)}. ${counted(node.rows, "row")}; cost ${number(node.cost)}, ${proof}.`;
}
