// Derives paths, sides and changes from the JSON of a tree.
import type { Tree, TreeNode, TreeSplit } from "../api/types.ts";
import { counted, label, number, percent } from "../format.ts";
import { BEYOND_SPACE } from "../words.ts";

/** A piece of the number line: above `low`, up to and including `high`. */
interface Piece { low: number; high: number; right: boolean }

export function pieces(split: TreeSplit): Piece[] {
  const edges = [-Infinity, ...split.thresholds, Infinity];
  return edges.slice(0, -1).map((low, i) => ({ low, high: edges[i + 1], right: i % 2 === 1 }));
}

/** Returns a function of a tree that computes its result once for each tree. */
export function once<Result>(compute: (tree: Tree) => Result): (tree: Tree) => Result {
  const known = new WeakMap<Tree, { result: Result }>();
  return (tree) => {
    let found = known.get(tree);
    if (!found) known.set(tree, (found = { result: compute(tree) }));
    return found.result;
  };
}

export const parents = once((tree): number[] => {
  const above = new Array<number>(tree.nodes.length).fill(-1);
  tree.nodes.forEach((node, i) => {
    if (node.split) above[node.split.left] = above[node.split.right] = i;
  });
  return above;
});

/** Returns the nodes from the root to this one. */
export function pathTo(tree: Tree, index: number): number[] {
  const above = parents(tree);
  const path: number[] = [];
  for (let at = index; at >= 0; at = above[at]) path.unshift(at);
  return path;
}

export const depthsOf = once((tree): number[] => {
  const depths = new Array<number>(tree.nodes.length).fill(0);
  tree.nodes.forEach((node, i) => {
    if (node.split) depths[node.split.left] = depths[node.split.right] = depths[i] + 1;
  });
  return depths;
});

export function depthOf(tree: Tree): number {
  return depthsOf(tree).reduce((most, depth) => Math.max(most, depth), 0);
}

export function leafCount(tree: Tree): number {
  return leavesBelow(tree)[0];
}

/** Returns the sums of a leaf's figure over the leaves below each node. */
function below(tree: Tree, figure: (leaf: TreeNode) => number): number[] {
  const sums = tree.nodes.map(figure);
  for (let i = tree.nodes.length - 1; i >= 0; i -= 1) {
    const { split } = tree.nodes[i];
    if (split) sums[i] = sums[split.left] + sums[split.right];
  }
  return sums;
}

/** The weight that the leaves below each node misclassify. */
export const wrongBelow = once((tree) => below(tree, (leaf) => leaf.error));
export const leavesBelow = once((tree) => below(tree, () => 1));

export function className(tree: Tree, node: TreeNode): string {
  return label(tree.classes.labels[node.label]);
}

function total({ counts }: TreeNode): number {
  return counts.reduce((sum, x) => sum + x, 0);
}

export function share(node: TreeNode): number {
  return node.counts[node.label] / total(node);
}

const equal = (a: number, b: number) => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b));

/** Whether counts and errors are weights and not numbers of rows: rows or classes have weights. */
export const weighted = once((tree): boolean => tree.nodes.some((node) =>
  !equal(total(node), node.rows) || node.counts.some((weight) => !equal(weight, Math.round(weight)))));

/** "95 % of 50 rows", or "55.6 % of the weight of 50 rows". */
export function shareOfRows(tree: Tree, node: TreeNode, noun = "row"): string {
  return `${percent(share(node))} of ${weighted(tree) ? "the weight of " : ""}${counted(node.rows, noun)}`;
}

/** "3 wrong", or "weight 2.5 wrong". */
export function wrongWords(tree: Tree, weight: number): string {
  return `${weighted(tree) ? "weight " : ""}${number(weight)} wrong`;
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
