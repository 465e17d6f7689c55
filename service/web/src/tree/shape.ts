// Derives paths, sides, rules in words and changes from the JSON of a tree.
import type { Tree, TreeColumn, TreeLabel, TreeNode, TreeSplit } from "../api/types.ts";
import { counted, exact, label, listed, number, percent } from "../format.ts";
import { BEYOND_SPACE } from "../words.ts";

/** A piece of the number line: above `low`, up to and including `high`. */
export interface Piece { low: number; high: number; right: boolean }

export function pieces(split: TreeSplit): Piece[] {
  const edges = [-Infinity, ...split.thresholds, Infinity];
  return edges.slice(0, -1).map((low, i) => ({ low, high: edges[i + 1], right: i % 2 === 1 }));
}

export function parents(tree: Tree): number[] {
  const above = new Array<number>(tree.nodes.length).fill(-1);
  tree.nodes.forEach((node, i) => {
    if (node.split) above[node.split.left] = above[node.split.right] = i;
  });
  return above;
}

/** Returns the nodes from the root to this one. */
export function pathTo(tree: Tree, index: number): number[] {
  const above = parents(tree);
  const path: number[] = [];
  for (let at = index; at >= 0; at = above[at]) path.unshift(at);
  return path;
}

export function depthsOf(tree: Tree): number[] {
  const depths = new Array<number>(tree.nodes.length).fill(0);
  tree.nodes.forEach((node, i) => {
    if (node.split) depths[node.split.left] = depths[node.split.right] = depths[i] + 1;
  });
  return depths;
}

export function depthOf(tree: Tree): number {
  return Math.max(...depthsOf(tree));
}

export function leafCount(tree: Tree): number {
  return tree.nodes.filter((node) => !node.split).length;
}

/** Returns the weight that the leaves below each node misclassify. */
export function wrongBelow(tree: Tree): number[] {
  const wrong = tree.nodes.map((node) => node.error);
  for (let i = tree.nodes.length - 1; i >= 0; i -= 1) {
    const { split } = tree.nodes[i];
    if (split) wrong[i] = wrong[split.left] + wrong[split.right];
  }
  return wrong;
}

export function className(tree: Tree, node: TreeNode): string {
  return label(tree.classes.labels[node.label]);
}

export function share(node: TreeNode): number {
  return node.counts[node.label] / node.counts.reduce((sum, x) => sum + x, 0);
}

// Rules in words

function categoriesOf(column: TreeColumn): TreeLabel[] {
  return column.kind === "category" ? column.categories : [];
}

interface Condition { column: TreeColumn; pieces: { low: number; high: number }[]; categories: Set<number>; missing: boolean }

/** Returns the conditions to reach this node, one for each column. */
export function conditions(tree: Tree, index: number): string[] {
  const path = pathTo(tree, index);
  const found = new Map<number, Condition>();
  for (let step = 0; step < path.length - 1; step += 1) {
    const split = tree.nodes[path[step]].split!;
    narrow(found, tree.columns[split.column], split, path[step + 1] === split.right);
  }
  return [...found.values()].map(conditionWords);
}

function narrow(found: Map<number, Condition>, column: TreeColumn, split: TreeSplit, right: boolean): void {
  const before = found.get(split.column) ?? {
    column, pieces: [{ low: -Infinity, high: Infinity }], categories: new Set(categoriesOf(column).keys()), missing: true,
  };
  const kept = pieces(split).filter((piece) => piece.right === right);
  const crossed = before.pieces.flatMap((a) => kept
    .map((b) => ({ low: Math.max(a.low, b.low), high: Math.min(a.high, b.high) }))
    .filter((piece) => piece.low < piece.high));
  const chosen = new Set(split.right_categories);
  found.set(split.column, {
    ...before,
    pieces: crossed.sort((a, b) => a.low - b.low),
    categories: new Set([...before.categories].filter((k) => chosen.has(k) === right)),
    missing: before.missing && split.missing_right === right,
  });
}

function conditionWords({ column, pieces: kept, categories, missing }: Condition): string {
  const also = missing ? " (or missing)" : "";
  if (column.kind === "category") {
    const names = [...categories].map((k) => label(column.categories[k]));
    if (!names.length) return `${column.name} is ${missing ? "missing" : "not a category of the training data"}`;
    return `${column.name} is ${listed(names, "or")}${also}`;
  }
  if (!kept.length) return `${column.name} is missing`;
  if (column.kind === "boolean") {
    const values = [0, 1].filter((value) => kept.some((piece) => piece.low < value && value <= piece.high));
    if (values.length === 2) return `${column.name} is known`;
    return `${column.name} is ${values[0] ? "true" : "false"}${also}`;
  }
  if (kept.length === 1 && kept[0].low === -Infinity && kept[0].high === Infinity) return `${column.name} is known`;
  return `${column.name} is ${kept.map(rangeWords).join(" or ")}${also}`;
}

function rangeWords({ low, high }: { low: number; high: number }): string {
  if (low === -Infinity) return `at most ${exact(high)}`;
  if (high === Infinity) return `above ${exact(low)}`;
  return `above ${exact(low)} and at most ${exact(high)}`;
}

/** Returns the complete rule of a leaf. */
export function ruleWords(tree: Tree, index: number): string {
  const node = tree.nodes[index];
  const parts = conditions(tree, index);
  const answer = `${className(tree, node)} (${percent(share(node))} of ${counted(node.rows, "training row")})`;
  return parts.length ? `If ${parts.join(", and ")}, then ${answer}.` : `Always ${answer}.`;
}

/** Returns the question of a node in a few words. */
export function questionWords(tree: Tree, node: TreeNode): string {
  const split = node.split!;
  const column = tree.columns[split.column];
  const all: Condition = {
    column, pieces: pieces(split).filter((piece) => !piece.right), missing: !split.missing_right,
    categories: new Set([...categoriesOf(column).keys()].filter((k) => !split.right_categories.includes(k))),
  };
  return `left if ${conditionWords(all)}; else right`;
}

// Changes

export type Change = "new" | "other feature" | "other cuts" | "other class";

/** Returns the nodes of `after` that differ from the nodes at the same place in `before`. */
export function changes(before: Tree | undefined, after: Tree): Map<number, Change> {
  const found = new Map<number, Change>();
  if (!before) return found;
  const compare = (old: number | undefined, index: number): void => {
    const node = after.nodes[index];
    const former = old === undefined ? undefined : before.nodes[old];
    const change = former ? difference(before, former, after, node) : "new";
    if (change) found.set(index, change);
    if (!node.split) return;
    compare(former?.split?.left, node.split.left);
    compare(former?.split?.right, node.split.right);
  };
  compare(0, 0);
  return found;
}

function difference(before: Tree, old: TreeNode, after: Tree, node: TreeNode): Change | null {
  if (!node.split) {
    if (old.split) return "new";
    return className(before, old) === className(after, node) ? null : "other class";
  }
  if (!old.split) return "new";
  if (before.columns[old.split.column].name !== after.columns[node.split.column].name) return "other feature";
  const cuts = (split: TreeSplit) => JSON.stringify([split.thresholds, split.right_categories, split.missing_right]);
  return cuts(old.split) === cuts(node.split) ? null : "other cuts";
}

export function changeWords(found: Map<number, Change>): string {
  const counts = new Map<Change, number>();
  for (const change of found.values()) counts.set(change, (counts.get(change) ?? 0) + 1);
  const words: Record<Change, (n: number) => string> = {
    new: (n) => counted(n, "new node"),
    "other feature": (n) => `${counted(n, "node splits", "nodes split")} another feature`,
    "other cuts": (n) => `${counted(n, "node has", "nodes have")} other cuts`,
    "other class": (n) => `${counted(n, "leaf has", "leaves have")} another class`,
  };
  return [...counts].map(([change, n]) => words[change](n)).join(", ");
}

/** Returns the proof in a sentence. */
export function proofWords(tree: Tree): string {
  const { objective, upper_bound: upper, lower_bound: lower, proven_optimal: proven, beyond_space: beyond } = tree.proof;
  if (proven && !beyond) return `Proven optimal: no tree of the search space costs less than ${number(objective)}.`;
  const known = proven
    ? `Proven: no tree of the search space costs less than ${number(upper)}; this tree costs ${number(objective)}.`
    : `Costs ${number(objective)}; ${lower > 0 ? `every tree of the search space costs at least ${number(lower)}` : "no bound is known"}.`;
  return beyond ? `${known} ${BEYOND_SPACE}` : known;
}
