// Computes what the boxes of a tree show and how large they are, before they are drawn.
import type { Tree, TreeNode } from "../api/types.ts";
import { cell, counted, label, number } from "../format.ts";
import { classStyle } from "./colours.ts";
import type { Detail } from "./detail.ts";
import { fit, width } from "./measure.ts";
import { className, leavesBelow, shareOfRows, wrongBelow, wrongWords } from "./shape.ts";
import { type Strip, stripOf } from "./strips.ts";

const MAX_BARS = 5;
const SHARES = 6; // height of the shares of the classes
const MARK = 16; // width of the mark of a folded subtree

interface Share { from: number; share: number; style: string } // as parts of the row's width
interface Common { width: number; height: number; detail: Detail; shares: Share[] }
export interface SplitBox extends Common {
  kind: "split";
  name: string;
  strip: Strip;
  top: number; // of the strip
  missing: { x: number; width: number; right: boolean; seen: boolean };
  footer: string;
  proven: boolean;
}
export interface LeafBox extends Common {
  kind: "leaf";
  name: string;
  style: string;
  lines: string[];
  rows: { name: string; count: string; length: number; style: string }[];
  more: string;
  nameWidth: number;
  footer: string;
  proven: boolean;
}
/** A folded subtree. */
export interface ChipBox extends Common { kind: "chip"; lines: string[] }
export type Box = SplitBox | LeafBox | ChipBox;

/** Returns the boxes of these nodes, each at the index of its node. */
export function boxes(tree: Tree, nodes: number[], open: Set<number>, detail: Detail, bars: boolean): Box[] {
  const found: Box[] = [];
  const mine = bars ? detail : { ...detail, bars: 0 };
  for (const i of nodes) {
    if (!tree.nodes[i].split) found[i] = leafBox(tree, tree.nodes[i], mine);
    else found[i] = open.has(i) ? splitBox(tree, i, mine) : chipBox(tree, i, mine);
  }
  return found;
}

function splitBox(tree: Tree, index: number, detail: Detail): SplitBox {
  const node = tree.nodes[index];
  const split = node.split!;
  const strip = stripOf(tree, index, detail);
  const name = fit(tree.columns[split.column].name, detail.name, detail.nameRoom, true);
  const footer = detail.ends ? `${counted(node.rows, "row")}, ${wrongWords(tree, wrongBelow(tree)[index])}` : counted(node.rows, "row");
  const beside = width("proven", detail.small, true) + 16;
  const inner = Math.max(strip.width + detail.pad + detail.missing, width(name, detail.name, true), width(footer, detail.small) + beside);
  const top = detail.pad + detail.name + 6 + detail.bars;
  return {
    kind: "split", name, strip, top, footer, detail, proven: node.proven, shares: shares(node),
    width: inner + 2 * detail.pad,
    height: top + detail.strip + strip.height + 8 + SHARES + detail.small + 4 + detail.pad,
    missing: { x: detail.pad + strip.width + detail.pad, width: detail.missing, right: split.missing_right, seen: split.missing_seen },
  };
}

function shares(node: TreeNode): Share[] {
  const total = node.counts.reduce((sum, x) => sum + x, 0);
  let from = 0;
  return node.counts.map((weight, k) => {
    const part = { from, share: weight / total, style: classStyle(k) };
    from += part.share;
    return part;
  }).filter((part) => part.share > 0);
}

function chipBox(tree: Tree, index: number, detail: Detail): ChipBox {
  const node = tree.nodes[index];
  const lines = [
    counted(leavesBelow(tree)[index], "leaf", "leaves"), counted(node.rows, "row"), wrongWords(tree, wrongBelow(tree)[index]),
  ];
  const inner = Math.max(width(lines[0], detail.cut, true), ...lines.slice(1).map((line) => width(line, detail.small) + MARK));
  return {
    kind: "chip", lines, detail, shares: shares(node), width: inner + 2 * detail.pad,
    height: 2 * detail.pad + detail.cut + 2 * (detail.small + 4) + 4 + SHARES,
  };
}

function leafBox(tree: Tree, node: TreeNode, detail: Detail): LeafBox {
  const name = fit(className(tree, node), detail.name, detail.classes ? 150 : detail.nameRoom * 0.62, true);
  const common = { kind: "leaf" as const, name, detail, style: classStyle(node.label), proven: node.proven, shares: shares(node) };
  const titled = width(name, detail.name, true) + 18;
  if (!detail.classes) {
    const lines = [counted(node.rows, "row"), wrongWords(tree, node.error)];
    const inner = Math.max(titled, ...lines.map((line) => width(line, detail.small)));
    const height = 2 * detail.pad + detail.name + lines.length * (detail.small + 3) + 6 + SHARES;
    return { ...common, lines, rows: [], more: "", nameWidth: 0, footer: "", width: inner + 2 * detail.pad, height };
  }
  const { rows, more } = classRows(tree, node, detail);
  const lines = [shareOfRows(tree, node)];
  const footer = wrongWords(tree, node.error);
  const nameWidth = Math.max(...rows.map((row) => width(row.name, detail.small)));
  const countWidth = Math.max(...rows.map((row) => width(row.count, detail.small)));
  const inner = Math.max(nameWidth + 48 + countWidth + 14, titled, width(lines[0], detail.small), width(footer, detail.small) + 62);
  return {
    ...common, lines, rows, more, nameWidth, footer, width: inner + 2 * detail.pad,
    height: 2 * detail.pad + detail.name + 2 * detail.small + 16 + 13 * (rows.length + (more ? 1 : 0)),
  };
}

/** Returns the heaviest classes of a leaf in their order, and the others together. */
function classRows(tree: Tree, node: TreeNode, detail: Detail): Pick<LeafBox, "rows" | "more"> {
  const order = [...node.counts.keys()].filter((k) => node.counts[k] > 0).sort((a, b) => node.counts[b] - node.counts[a] || a - b);
  const rest = order.length > MAX_BARS + 1 ? order.slice(MAX_BARS) : [];
  const kept = order.slice(0, order.length - rest.length).sort((a, b) => a - b);
  const heaviest = Math.max(...node.counts);
  return {
    rows: kept.map((k) => ({
      name: fit(cell(label(tree.classes.labels[k])), detail.small, 84),
      count: number(node.counts[k]), length: Math.max(1.5, (48 * node.counts[k]) / heaviest), style: classStyle(k),
    })),
    more: rest.length ? `${rest.length} more: ${number(rest.reduce((sum, k) => sum + node.counts[k], 0))}` : "",
  };
}
