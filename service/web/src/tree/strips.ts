// The strip of a split: which values go left and which go right.
import type { Tree, TreeCategoryColumn, TreeNumberColumn, TreeSplit } from "../api/types.ts";
import { label } from "../format.ts";
import { cutText, shortTexts } from "./cuts.ts";
import type { Detail } from "./detail.ts";
import { spread } from "./layout.ts";
import { fit, width } from "./measure.ts";
import { conditionsOf } from "./rules.ts";
import { pieces } from "./shape.ts";

const NARROWEST = 14;
const LINE = 14; // height of a line of labels

interface Cell { x: number; width: number; right: boolean; arrow: boolean }
interface Text { x: number; y: number; text: string; soft: boolean; title?: string }
interface Tick { from: number; to: number; y: number }

/** Where the values lie on the strip. */
export type Scale =
  | { kind: "number"; values: number[]; places: number[] }
  | { kind: "category"; places: Map<unknown, { x: number; width: number }> };

export interface Strip {
  width: number;
  height: number; // of the labels below the strip
  cells: Cell[];
  labels: Text[];
  ticks: Tick[];
  sides: { y: number; right: boolean; text: string }[]; // names of categories, one line per side
  brief: string; // what is left when zoomed out: the cuts, or some categories
  scale: Scale;
}

export function stripOf(tree: Tree, index: number, detail: Detail): Strip {
  const split = tree.nodes[index].split!;
  const column = tree.columns[split.column];
  if (column.kind === "category") return categoryStrip(column, split, detail);
  return column.kind === "boolean" ? booleanStrip(split, detail) : numberStrip(tree, index, column, detail);
}

/** Returns the range of the column among the rows of a node, as far as the splits above tell. */
function rangeAt(tree: Tree, index: number, column: TreeNumberColumn): [number, number] {
  const split = tree.nodes[index].split!;
  const above = conditionsOf(tree, index).find((condition) => condition.column === split.column)?.pieces;
  const low = Math.max(column.minimum ?? 0, above?.[0]?.low ?? -Infinity);
  const high = Math.min(column.maximum ?? 1, above?.at(-1)?.high ?? Infinity);
  return [Math.min(low, ...split.thresholds), Math.max(high, ...split.thresholds)];
}

function numberStrip(tree: Tree, index: number, column: TreeNumberColumn, detail: Detail): Strip {
  const split = tree.nodes[index].split!;
  const [low, high] = rangeAt(tree, index, column);
  const values = [low, ...split.thresholds, high];
  const ends = shortTexts([low, high], high - low);
  const cuts = split.thresholds.map((cut) => cutText(tree, split.column, cut));
  const texts = [ends.get(low)!, ...cuts, ends.get(high)!];
  const shown = texts.map((_, i) => detail.ends || (i > 0 && i < texts.length - 1));
  const widths = texts.map((text, i) => (shown[i] ? width(text, detail.cut) : 0));
  // Many labels of a narrow strip stand on two lines.
  const lines = !detail.ends && cuts.length > 3 ? 2 : 1;
  const rowOf = (i: number) => (i - 1) % lines;
  const needed = [...Array(lines).keys()].map((row) =>
    widths.reduce((sum, x, i) => sum + (shown[i] && (detail.ends || rowOf(i) === row) ? x + 8 : 0), 0));
  const full = Math.max(detail.least, ...needed);
  // Narrow pieces are drawn wider than they are, so that they are visible.
  const count = values.length - 1;
  const least = Math.max(Math.min(NARROWEST, full / count), count > 3 ? (0.45 * full) / count : 0);
  const places = [0];
  for (let i = 0; i < count; i += 1) {
    const part = high > low ? values[i + 1] / (high - low) - values[i] / (high - low) : 1 / count;
    places.push(places[i] + least + (full - least * count) * part);
  }
  const centres = new Array<number>(texts.length).fill(0);
  for (let row = 0; row < lines; row += 1) {
    const mine = texts.flatMap((_, i) => (shown[i] && (detail.ends || rowOf(i) === row) ? [i] : []));
    spread(mine.map((i) => places[i]), mine.map((i) => widths[i]), full).forEach((x, k) => (centres[mine[k]] = x));
  }
  const y = (i: number) => (detail.ends ? 0 : rowOf(i)) * LINE;
  const inner = (i: number) => i > 0 && i < count;
  return {
    width: full, height: 8 + LINE * lines, sides: [], scale: { kind: "number", values, places }, brief: cuts.join(" | "),
    cells: pieces(split).map(({ right }, i) => ({ x: places[i], width: places[i + 1] - places[i], right, arrow: true })),
    labels: texts.flatMap((text, i) => (shown[i] ? [{ x: centres[i], y: 18 + y(i), text, soft: !inner(i), title: String(values[i]) }] : [])),
    ticks: places.flatMap((from, i) => (inner(i) ? [{ from, to: centres[i], y: 7 + y(i) }] : [])),
  };
}

function booleanStrip(split: TreeSplit, detail: Detail): Strip {
  const full = Math.max(72, detail.least * 0.7);
  const sides = split.thresholds.length ? [false, true] : [false, false];
  return {
    width: full, height: 22, ticks: [], sides: [], brief: "false | true",
    cells: sides.map((right, i) => ({ x: (i * full) / 2, width: full / 2, right, arrow: true })),
    labels: ["false", "true"].map((text, i) => ({ x: full * (0.25 + 0.5 * i), y: 18, text, soft: false })),
    scale: { kind: "category", places: new Map([false, true].map((value, i) => [value, { x: (i * full) / 2, width: full / 2 }])) },
  };
}

function categoryStrip(column: TreeCategoryColumn, split: TreeSplit, detail: Detail): Strip {
  const names = column.categories.map(label);
  const chosen = new Set(split.right_categories);
  const sides = names.map((_, k) => chosen.has(k));
  const lines = [false, true].map((right) => names.filter((_, k) => sides[k] === right));
  const wanted = Math.max(detail.least, Math.min(NARROWEST * names.length, detail.least), ...lines.map((words) => width(words.join(", "), detail.cut) + 16));
  const full = Math.min(wanted, detail.least * 1.8);
  const step = full / names.length;
  const fine = step >= 8;
  const cells: Cell[] = [];
  sides.forEach((right, k) => {
    const last = cells.at(-1);
    if (!fine && last?.right === right) last.width += step;
    else cells.push({ x: k * step, width: step, right, arrow: fine ? step >= NARROWEST : true });
  });
  const shown = lines.flatMap((words, i) => (words.length ? [{ right: i === 1, text: someOf(words, detail.cut, full - 16) }] : []));
  const places = new Map(column.categories.map((entry, k) => [entry.value as unknown, { x: k * step, width: step }]));
  return {
    width: full, height: 6 + 15 * shown.length, cells, labels: [], ticks: [], brief: lines[0].join(", "),
    sides: shown.map((line, i) => ({ ...line, y: 17 + 15 * i })),
    scale: { kind: "category", places: fine ? places : new Map() },
  };
}

/** Returns as many words as fit, and how many more there are. */
function someOf(words: string[], size: number, room: number): string {
  for (let kept = Math.min(words.length, 40); kept > 0; kept -= 1) {
    const line = words.slice(0, kept).join(", ") + (kept < words.length ? `, +${words.length - kept} more` : "");
    if (width(line, size) <= room) return line;
  }
  const more = words.length > 1 ? ` +${words.length - 1} more` : "";
  return fit(words[0], size, room - width(more, size)) + more;
}
