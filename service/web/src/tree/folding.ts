// Which nodes of a tree are visible: the children of a node are visible if it is open.
import type { Tree } from "../api/types.ts";
import { depthsOf, leavesBelow, pathTo } from "./shape.ts";

const MAX_LEAVES_OPEN = 16; // a tree with more leaves is folded at first
const LEAF_ROOM = 70; // pixels: in a narrow place, fewer leaves can be read
const LEVELS_OPEN = 3; // of splits, in a folded tree
const LEVELS_OPEN_NARROW = 2;
const NARROW = 500; // pixels
const MAX_LEAVES_AT_ONCE = 8; // a subtree with more leaves opens level by level
const LEVELS_AT_ONCE = 2;
export const MAX_NODES_DRAWN = 150; // a tree with more nodes is an icicle at first

/** Returns whether a tree is folded at first, because it cannot be read at this width. */
export function isLarge(tree: Tree, width: number): boolean {
  return leavesBelow(tree)[0] > Math.min(MAX_LEAVES_OPEN, Math.max(4, Math.floor(width / LEAF_ROOM)));
}

/** Opens the splits of the first levels. */
export function openLevels(tree: Tree, levels: number): Set<number> {
  const depths = depthsOf(tree);
  return new Set(tree.nodes.flatMap((node, i) => (node.split && depths[i] < levels ? [i] : [])));
}

export function openAtFirst(tree: Tree, path: number[] | undefined, width: number): Set<number> {
  if (!isLarge(tree, width)) return openLevels(tree, Infinity);
  if (path) return openTo(tree, new Set(), path.at(-1)!);
  return openLevels(tree, width < NARROW ? LEVELS_OPEN_NARROW : LEVELS_OPEN);
}

/** Opens the nodes above this one. */
export function openTo(tree: Tree, open: Set<number>, index: number): Set<number> {
  return new Set([...open, ...pathTo(tree, index).slice(0, -1)]);
}

/** Opens a folded subtree: a small one completely, a large one level by level. */
export function opened(tree: Tree, open: Set<number>, index: number): Set<number> {
  const all = leavesBelow(tree)[index] <= MAX_LEAVES_AT_ONCE;
  const next = new Set(open);
  const add = (i: number, levels: number): void => {
    const { split } = tree.nodes[i];
    if (!split || levels === 0) return;
    next.add(i);
    add(split.left, levels - 1);
    add(split.right, levels - 1);
  };
  add(index, all ? Infinity : LEVELS_AT_ONCE);
  return next;
}

/** Folds a subtree, so that it is one chip. */
export function folded(tree: Tree, open: Set<number>, index: number): Set<number> {
  return new Set([...open].filter((i) => !pathTo(tree, i).includes(index)));
}

/** Returns the visible nodes, parents first. */
export function visibleNodes(tree: Tree, open: Set<number>): number[] {
  const found: number[] = [];
  const add = (i: number): void => {
    found.push(i);
    const { split } = tree.nodes[i];
    if (!split || !open.has(i)) return;
    add(split.left);
    add(split.right);
  };
  add(0);
  return found;
}

/** Returns how many levels of splits are open everywhere, for the slider. */
export function levelsOpen(tree: Tree, open: Set<number>): number {
  const depths = depthsOf(tree);
  return tree.nodes.reduce((least, node, i) => (node.split && !open.has(i) ? Math.min(least, depths[i]) : least), Infinity);
}
