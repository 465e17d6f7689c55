// The rule of a node: one condition for each column on its path.
import type { Tree, TreeColumn, TreeLabel, TreeNode, TreeSplit } from "../api/types.ts";
import { exact, label, listed } from "../format.ts";
import { cutText } from "./cuts.ts";
import { className, pathTo, pieces, shareOfRows } from "./shape.ts";

export interface Condition {
  column: number;
  pieces: { low: number; high: number }[];
  categories: Set<number>;
  missing: boolean;
}

/** A part of a text; `exact` is what `text` rounds or shortens. */
export interface Part { text: string; exact?: string }

function categoriesOf(column: TreeColumn): TreeLabel[] {
  return column.kind === "category" ? column.categories : [];
}

/** Returns the conditions to reach this node, one for each column. */
export function conditionsOf(tree: Tree, index: number): Condition[] {
  const path = pathTo(tree, index);
  const found = new Map<number, Condition>();
  for (let step = 0; step < path.length - 1; step += 1) {
    const split = tree.nodes[path[step]].split!;
    found.set(split.column, narrowed(tree, found.get(split.column), split, path[step + 1] === split.right));
  }
  return [...found.values()];
}

function narrowed(tree: Tree, known: Condition | undefined, split: TreeSplit, right: boolean): Condition {
  const before = known ?? {
    column: split.column, pieces: [{ low: -Infinity, high: Infinity }],
    categories: new Set(categoriesOf(tree.columns[split.column]).keys()), missing: true,
  };
  const kept = pieces(split).filter((piece) => piece.right === right);
  const crossed = before.pieces.flatMap((a) => kept
    .map((b) => ({ low: Math.max(a.low, b.low), high: Math.min(a.high, b.high) }))
    .filter((piece) => piece.low < piece.high));
  const chosen = new Set(split.right_categories);
  return {
    column: split.column,
    pieces: crossed.sort((a, b) => a.low - b.low),
    categories: new Set([...before.categories].filter((k) => chosen.has(k) === right)),
    missing: before.missing && split.missing_right === right,
  };
}

/** Returns the condition in words; its numbers and lists are short and keep their exact texts. */
export function conditionParts(tree: Tree, condition: Condition): Part[] {
  const { column, pieces: kept, categories, missing } = condition;
  const info = tree.columns[column];
  const also = missing ? [{ text: " or missing" }] : [];
  const says = (text: string) => [{ text: `${info.name} is ${text}` }];
  if (info.kind === "category") {
    const names = [...categories].map((k) => label(info.categories[k]));
    if (!names.length) return says(missing ? "missing" : "not a category of the training data");
    return [{ text: `${info.name} is ` }, { text: listed(names, "or"), exact: listed(names, "or", Infinity) }, ...also];
  }
  if (!kept.length) return says("missing");
  if (info.kind === "boolean") {
    const values = [0, 1].filter((value) => kept.some((piece) => piece.low < value && value <= piece.high));
    return values.length === 2 ? says("known") : [...says(values[0] ? "true" : "false"), ...also];
  }
  if (kept.length === 1 && kept[0].low === -Infinity && kept[0].high === Infinity) return says("known");
  const cut = (value: number): Part => ({ text: cutText(tree, column, value), exact: exact(value) });
  const ranges = kept.map(({ low, high }): Part[] => [
    ...(low > -Infinity && high < Infinity ? [cut(low), { text: ` < ${info.name}` }] : [{ text: info.name }]),
    ...(high < Infinity ? [{ text: " ≤ " }, cut(high)] : [{ text: " > " }, cut(low)]),
  ]);
  return [...ranges.flatMap((range, i) => (i ? [{ text: " or " }, ...range] : range)), ...also];
}

function shortWords(parts: Part[]): string {
  return parts.map((part) => part.text).join("");
}

export function exactWords(parts: Part[]): string {
  return parts.map((part) => part.exact ?? part.text).join("");
}

/** Returns the complete rule of a leaf with exact numbers, one condition a line. */
export function ruleText(tree: Tree, index: number): string {
  const node = tree.nodes[index];
  const lines = conditionsOf(tree, index).map((condition) => exactWords(conditionParts(tree, condition)));
  const answer = `${className(tree, node)} (${shareOfRows(tree, node, "training row")})`;
  return lines.length ? `If ${lines.join("\nand ")}\nthen ${answer}.` : `Always ${answer}.`;
}

/** Returns the condition under which a row of this node goes left. */
export function questionOf(tree: Tree, node: TreeNode): Condition {
  const split = node.split!;
  const chosen = new Set(split.right_categories);
  return {
    column: split.column, pieces: pieces(split).filter((piece) => !piece.right), missing: !split.missing_right,
    categories: new Set([...categoriesOf(tree.columns[split.column]).keys()].filter((k) => !chosen.has(k))),
  };
}

/** Returns the question of a node in a few words. */
export function questionWords(tree: Tree, node: TreeNode): string {
  return `left if ${shortWords(conditionParts(tree, questionOf(tree, node)))}; else right`;
}
