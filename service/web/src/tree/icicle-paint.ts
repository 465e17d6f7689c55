// Paints an icicle on a canvas.
import type { Tree } from "../api/types.ts";
import { colour } from "../state/appearance.ts";
import { classStyle } from "./colours.ts";
import { cutText } from "./cuts.ts";
import type { Bar } from "./icicle-layout.ts";
import { fit, FONT, width as textWidth } from "./measure.ts";
import { className, share } from "./shape.ts";

const GAP = 1; // between bars, where there is room
const SIZE = 11; // of the font
const WEAKEST = 0.18; // strength of the colour of a node whose classes are equally frequent

interface Painted {
  bars: Bar[];
  width: number;
  rowHeight: number;
  level: number; // of the node that the icicle is zoomed to
  lit: Set<number>; // path of the pointer or of a followed row
  active: number | null;
}

/** Returns how much of the colour of its majority class a node has: more for a purer node. */
function strength(tree: Tree, index: number): number {
  const least = 1 / tree.classes.labels.length;
  return WEAKEST + (1 - WEAKEST) * Math.max(0, (share(tree.nodes[index]) - least) / (1 - least));
}

/** Returns what fits on a bar: the name and the cuts, the cuts alone, or nothing. */
function textOf(tree: Tree, index: number, room: number): string {
  const node = tree.nodes[index];
  if (!node.split) return textWidth(className(tree, node), SIZE) <= room ? className(tree, node) : room > 30 ? fit(className(tree, node), SIZE, room) : "";
  const { name } = tree.columns[node.split.column];
  const cuts = node.split.thresholds.map((cut) => cutText(tree, node.split!.column, cut)).join(" | ");
  const both = cuts ? `${name}  ${cuts}` : name;
  if (textWidth(both, SIZE) <= room) return both;
  const free = room - textWidth(`  ${cuts}`, SIZE);
  if (cuts && free > 40) return `${fit(name, SIZE, free)}  ${cuts}`;
  if (cuts && textWidth(cuts, SIZE) <= room) return cuts;
  return !cuts && room > 40 ? fit(name, SIZE, room) : "";
}

/** Paints and returns how many bars were wide enough to be painted. */
export function paint(context: CanvasRenderingContext2D, tree: Tree, { bars, width, rowHeight, lit, active, level: first }: Painted): number {
  const inks = new Map(tree.classes.labels.map((_, k) => [classStyle(k), colour(classStyle(k))]));
  const [back, ink, quiet, accent] = ["back", "text", "quiet", "accent"].map(colour);
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  context.textBaseline = "middle";
  let painted = 0;
  for (const { index, level, x, width: part } of bars) {
    const [left, wide] = [x * width, part * width];
    const gap = wide > 4 ? GAP : 0;
    const above = level < first;
    context.globalAlpha = 1;
    context.fillStyle = back;
    context.fillRect(left, level * rowHeight, wide - gap, rowHeight - GAP);
    context.globalAlpha = above ? 0.12 : strength(tree, index);
    context.fillStyle = inks.get(classStyle(tree.nodes[index].label))!;
    context.fillRect(left, level * rowHeight, Math.max(0.5, wide - gap), rowHeight - GAP);
    context.globalAlpha = 1;
    painted += 1;
    const room = wide - 8;
    const text = room > 14 && rowHeight > 13 ? textOf(tree, index, room) : "";
    if (!text) continue;
    context.font = `${tree.nodes[index].split ? "" : "600 "}${SIZE}px ${FONT}`;
    const drawn = textWidth(text, SIZE, !tree.nodes[index].split);
    // A plate behind the text keeps its contrast on any colour.
    context.globalAlpha = 0.82;
    context.fillStyle = back;
    context.fillRect(left + 3, level * rowHeight + rowHeight / 2 - 8, drawn + 3, 15);
    context.globalAlpha = 1;
    context.fillStyle = above ? quiet : ink;
    context.fillText(text, left + 4, level * rowHeight + rowHeight / 2);
  }
  context.strokeStyle = accent;
  for (const { index, level, x, width: part } of bars) {
    if (!lit.has(index) && index !== active) continue;
    context.lineWidth = index === active ? 3 : 1.5;
    context.strokeRect(x * width + 1, level * rowHeight + 1, Math.max(1, part * width - 2), rowHeight - 3);
  }
  return painted;
}
