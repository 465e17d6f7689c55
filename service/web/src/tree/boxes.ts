// Computes the layout of the boxes of a tree before it is drawn.
import type { ColumnInfo, Dataset, Tree, TreeCategoryColumn, TreeColumn, TreeNode, TreeNumberColumn } from "../api/types.ts";
import { apart, cell, counted, label, number, percent } from "../format.ts";
import { spread } from "./layout.ts";
import { fit, width } from "./measure.ts";
import { className, pieces, share } from "./shape.ts";

export const PAD = 10;
export const NAME = 13;
export const BODY = 11;
export const SMALL = 10;
export const STRIP = 12;
export const BARS = 34; // height of the distribution over the strip
const MISSING = 48;
const NARROWEST = 14;
const MAX_BARS = 5;
const CLASS_COLOURS = 12;

export interface Cell { x: number; width: number; right: boolean; arrow: boolean }
export interface Bar { x: number; width: number; height: number; right: boolean }
export interface Text { x: number; y: number; text: string; soft: boolean }
export interface Tick { from: number; to: number }

/** The strip of a split, with the distribution above and labels below. */
export interface Strip {
  width: number;
  height: number; // of the labels below the strip
  cells: Cell[];
  bars: Bar[];
  labels: Text[];
  ticks: Tick[];
  sides: { y: number; right: boolean; text: string }[]; // names of categories, one line per side
}

interface Common { width: number; height: number; footer: string; proven: boolean }
export interface SplitBox extends Common {
  kind: "split";
  name: string;
  rows: string;
  strip: Strip;
  top: number; // of the strip
  missing: { x: number; width: number; height: number; right: boolean; seen: boolean };
  classes: { x: number; width: number; style: string }[];
}
export interface LeafBox extends Common {
  kind: "leaf";
  name: string;
  style: string;
  percent: string;
  share: string;
  rows: { name: string; count: string; length: number; style: string }[];
  parts: { from: number; share: number; style: string }[]; // classes, as shares of the row's width
  more: string;
  nameWidth: number;
}
export type Box = SplitBox | LeafBox;

export function classStyle(index: number): string {
  return `class${index % CLASS_COLOURS}`;
}

/** Returns the boxes of all nodes; without a dataset, or for a very large tree, without distributions. */
export function boxes(tree: Tree, dataset: Dataset | undefined, wrong: number[]): Box[] {
  const columns = new Map((dataset?.columns ?? []).map((column) => [column.name, column]));
  return tree.nodes.map((node, i) => {
    const footer = `${counted(node.rows, "row")}, ${number(wrong[i])} wrong`;
    return node.split
      ? splitBox(tree, node, columns.get(tree.columns[node.split.column].name), footer)
      : leafBox(tree, node, `${number(node.error)} wrong`);
  });
}

function splitBox(tree: Tree, node: TreeNode, info: ColumnInfo | undefined, footer: string): SplitBox {
  const split = node.split!;
  const column = tree.columns[split.column];
  const strip = stripOf(column, node, info);
  const name = fit(column.name, NAME, 240, true);
  const inner = Math.max(strip.width + PAD + MISSING, width(name, NAME, true), width(footer, SMALL) + 64);
  const top = PAD + NAME + 6 + (info ? BARS : 0);
  const classes = shares(node).map(({ from, share: part, style }) => ({ x: PAD + from * inner, width: part * inner, style }));
  const tallest = info ? Math.max(info.missing, ...(info.histogram?.counts ?? info.category_counts ?? [1])) : 1;
  return {
    kind: "split", name, strip, top, classes, footer, proven: node.proven, rows: counted(node.rows, "row"),
    width: inner + 2 * PAD,
    height: top + STRIP + strip.height + 8 + 6 + SMALL + 8 + PAD,
    missing: {
      x: PAD + strip.width + PAD, width: MISSING, right: split.missing_right, seen: split.missing_seen,
      height: info?.missing ? Math.max(1, (BARS * info.missing) / tallest) : 0,
    },
  };
}

function shares(node: TreeNode): LeafBox["parts"] {
  const total = node.counts.reduce((sum, x) => sum + x, 0);
  let from = 0;
  return node.counts.map((weight, k) => {
    const part = { from, share: weight / total, style: classStyle(k) };
    from += part.share;
    return part;
  }).filter((part) => part.share > 0);
}

function stripOf(column: TreeColumn, node: TreeNode, info: ColumnInfo | undefined): Strip {
  if (column.kind === "category") return categoryStrip(column, node, info);
  if (column.kind === "boolean") return booleanStrip(node, info);
  return numberStrip(column, node, info);
}

function numberStrip(column: TreeNumberColumn, node: TreeNode, info: ColumnInfo | undefined): Strip {
  const histogram = info?.histogram ?? undefined;
  const split = node.split!;
  const low = Math.min(column.minimum ?? 0, histogram?.edges[0] ?? Infinity, ...split.thresholds);
  const high = Math.max(column.maximum ?? 1, histogram?.edges.at(-1) ?? -Infinity, ...split.thresholds);
  const numbers = [low, ...split.thresholds, high];
  const shown = [column.minimum ?? low, ...split.thresholds, column.maximum ?? high];
  const labels = apart(shown, high - low || Math.abs(high) || 1);
  const widths = labels.map((text) => width(text, BODY));
  const full = Math.max(168, widths.reduce((sum, x) => sum + x + 8, 0));
  // Narrow pieces are drawn wider than they are, so that they are visible.
  const count = numbers.length - 1;
  const least = Math.max(NARROWEST, count > 3 ? (0.45 * full) / count : 0);
  const edges = [0];
  for (let i = 0; i < count; i += 1) {
    const part = high > low ? numbers[i + 1] / (high - low) - numbers[i] / (high - low) : 1;
    edges.push(edges[i] + least + (full - least * count) * part);
  }
  const sides = pieces(split);
  const cells = sides.map(({ right }, i) => ({ x: edges[i], width: edges[i + 1] - edges[i], right, arrow: true }));
  const centres = spread(edges, widths, full);
  const inner = (i: number) => i > 0 && i < count;
  return {
    width: full, height: 22, cells, sides: [],
    bars: histogram ? numberBars(histogram.edges, histogram.counts, numbers, edges) : [],
    labels: labels.map((text, i) => ({ x: centres[i], y: 18, text, soft: !inner(i) })),
    ticks: edges.flatMap((from, i) => (inner(i) ? [{ from, to: centres[i] }] : [])),
  };
}

/** Cuts the bins at the thresholds; each part has the colour of its side. */
function numberBars(bins: number[], counts: number[], numbers: number[], edges: number[]): Bar[] {
  const tallest = Math.max(...counts, 1);
  const bars: Bar[] = [];
  counts.forEach((rows, bin) => {
    if (!rows) return;
    for (let i = 0; i < numbers.length - 1; i += 1) {
      const from = Math.max(bins[bin], numbers[i]);
      const to = Math.min(bins[bin + 1], numbers[i + 1]);
      const point = bins[bin] === bins[bin + 1] && i === 0; // a column with one value
      if (to <= from && !point) continue;
      const place = (x: number) => edges[i] + ((x - numbers[i]) / (numbers[i + 1] - numbers[i] || 1)) * (edges[i + 1] - edges[i]);
      const x = place(from);
      bars.push({ x, width: Math.max(1, place(to) - x), height: Math.max(1, (BARS * rows) / tallest), right: i % 2 === 1 });
    }
  });
  return bars;
}

function booleanStrip(node: TreeNode, info: ColumnInfo | undefined): Strip {
  const full = 120;
  const sides = node.split!.thresholds.length ? [false, true] : [false, false];
  const rows = [false, true].map((value) => countOf(info, value));
  const tallest = Math.max(...rows, 1);
  return {
    width: full, height: 22, ticks: [], sides: [],
    cells: sides.map((right, i) => ({ x: (i * full) / 2, width: full / 2, right, arrow: true })),
    bars: rows.flatMap((n, i) => (n ? [{ x: (i * full) / 2 + 8, width: full / 2 - 16, height: (BARS * n) / tallest, right: sides[i] }] : [])),
    labels: ["false", "true"].map((text, i) => ({ x: full * (0.25 + 0.5 * i), y: 18, text, soft: false })),
  };
}

function countOf(info: ColumnInfo | undefined, value: unknown): number {
  const place = info?.categories?.findIndex((entry) => entry === value) ?? -1;
  return place < 0 ? 0 : (info!.category_counts?.[place] ?? 0);
}

function categoryStrip(column: TreeCategoryColumn, node: TreeNode, info: ColumnInfo | undefined): Strip {
  const names = column.categories.map(label);
  const chosen = new Set(node.split!.right_categories);
  const sides = names.map((_, k) => chosen.has(k));
  const lines = [false, true].map((right) => names.filter((_, k) => sides[k] === right));
  const wanted = Math.max(168, NARROWEST * names.length, ...lines.map((words) => width(words.join(", "), BODY) + 16));
  const full = Math.min(wanted, 300);
  const step = full / names.length;
  const rows = column.categories.map((entry) => countOf(info, entry.value));
  const tallest = Math.max(...rows, 1);
  const fine = step >= 8;
  const cells: Cell[] = [];
  sides.forEach((right, k) => {
    const last = cells.at(-1);
    if (!fine && last?.right === right) last.width += step;
    else cells.push({ x: k * step, width: step, right, arrow: fine ? step >= NARROWEST : true });
  });
  const shown = lines.flatMap((words, i) => (words.length ? [{ right: i === 1, text: someOf(words, full - 16) }] : []));
  return {
    width: full, height: 6 + 15 * shown.length, cells, labels: [], ticks: [],
    bars: fine
      ? rows.flatMap((n, k) => (n ? [{ x: k * step + step / 6, width: (2 * step) / 3, height: Math.max(1, (BARS * n) / tallest), right: sides[k] }] : []))
      : [],
    sides: shown.map((line, i) => ({ ...line, y: 17 + 15 * i })),
  };
}

/** Returns as many words as fit, and how many more there are. */
function someOf(words: string[], room: number): string {
  for (let kept = words.length; kept > 0; kept -= 1) {
    const line = words.slice(0, kept).join(", ") + (kept < words.length ? `, +${words.length - kept} more` : "");
    if (width(line, BODY) <= room) return line;
  }
  const more = words.length > 1 ? ` +${words.length - 1} more` : "";
  return fit(words[0], BODY, room - width(more, BODY)) + more;
}

function leafBox(tree: Tree, node: TreeNode, footer: string): LeafBox {
  const name = fit(className(tree, node), NAME, 150, true);
  const order = [...node.counts.keys()].filter((k) => node.counts[k] > 0).sort((a, b) => node.counts[b] - node.counts[a] || a - b);
  const rest = order.length > MAX_BARS + 1 ? order.slice(MAX_BARS) : [];
  const kept = order.slice(0, order.length - rest.length).sort((a, b) => a - b);
  const heaviest = Math.max(...node.counts);
  const rows = kept.map((k) => ({
    name: fit(cell(label(tree.classes.labels[k])), SMALL, 84),
    count: number(node.counts[k]), length: Math.max(1.5, (48 * node.counts[k]) / heaviest), style: classStyle(k),
  }));
  const more = rest.length ? `${rest.length} more: ${number(rest.reduce((sum, k) => sum + node.counts[k], 0))}` : "";
  const shareText = `${percent(share(node))} of ${counted(node.rows, "row")}`;
  const nameWidth = Math.max(...rows.map((row) => width(row.name, SMALL)));
  const countWidth = Math.max(...rows.map((row) => width(row.count, SMALL)));
  const inner = Math.max(nameWidth + 48 + countWidth + 14, width(name, NAME, true) + 18, width(shareText, SMALL), width(footer, SMALL) + 62);
  return {
    kind: "leaf", name, rows, more, parts: shares(node), nameWidth, footer, proven: node.proven, style: classStyle(node.label), share: shareText, percent: percent(share(node)),
    width: inner + 2 * PAD,
    height: PAD + NAME + SMALL + 10 + 13 * (rows.length + (more ? 1 : 0)) + SMALL + 6 + PAD,
  };
}
