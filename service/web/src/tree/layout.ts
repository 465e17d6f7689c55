// Places the boxes of a tree. Every subtree has its own columns, so boxes of a level do not overlap.
import type { Tree } from "../api/types.ts";
import type { Detail } from "./detail.ts";
import { depthsOf } from "./shape.ts";

interface Size { width: number; height: number }
interface Spot { x: number; y: number }
/** The nodes that are drawn, parents first, and the place of each at its index. */
export interface Layout { nodes: number[]; spots: Spot[]; width: number; height: number }

const MAX_ASPECT_RATIO = 1.8; // width by height: wider trees get more distance between levels
const MAX_RISE = 8; // times the smallest distance

/** Places the boxes of these nodes; a node whose children are not among them has none. */
export function layout(tree: Tree, nodes: number[], sizes: Size[], { gap, rise }: Pick<Detail, "gap" | "rise">): Layout {
  const spans: number[] = [];
  const childrenOf = (i: number) => {
    const { split } = tree.nodes[i];
    return split && sizes[split.left] ? [split.left, split.right] as const : null;
  };
  const below = (i: number) => childrenOf(i)!.reduce((sum, child) => sum + spans[child], gap);
  for (const i of [...nodes].reverse()) spans[i] = Math.max(sizes[i].width, childrenOf(i) ? below(i) : 0);
  const starts = [0];
  const centres: number[] = [];
  for (const i of nodes) {
    const children = childrenOf(i);
    centres[i] = starts[i] + spans[i] / 2;
    if (!children) continue;
    starts[children[0]] = starts[i] + (spans[i] - below(i)) / 2;
    starts[children[1]] = starts[children[0]] + spans[children[0]] + gap;
  }
  for (const i of [...nodes].reverse()) { // centre over the children, within the column
    const children = childrenOf(i);
    if (!children) continue;
    const half = sizes[i].width / 2;
    const middle = (centres[children[0]] + centres[children[1]]) / 2;
    centres[i] = Math.min(Math.max(middle, starts[i] + half), starts[i] + spans[i] - half);
  }
  const depths = depthsOf(tree);
  const close = levels(0);
  const wanted = (spans[0] / MAX_ASPECT_RATIO - close[close.length - 1]) / Math.max(1, close.length - 2);
  const tops = wanted > 0 ? levels(Math.min(MAX_RISE * rise, wanted)) : close;
  const spots: Spot[] = [];
  for (const i of nodes) spots[i] = { x: centres[i] - sizes[i].width / 2, y: tops[depths[i]] };
  return { nodes, spots, width: spans[0], height: tops[tops.length - 1] };

  /** Returns the top of each level and the bottom of the last; distant children get more height. */
  function levels(more: number): number[] {
    const tallest: number[] = [];
    const farthest: number[] = [];
    for (const i of nodes) {
      const level = depths[i];
      tallest[level] = Math.max(tallest[level] ?? 0, sizes[i].height);
      for (const child of childrenOf(i) ?? []) farthest[level] = Math.max(farthest[level] ?? 0, Math.abs(centres[child] - centres[i]));
    }
    const found = [0];
    tallest.forEach((height, level) => {
      const down = farthest[level] === undefined ? 0 : Math.min(Math.max(rise, 0.05 * farthest[level]), 3 * rise) + more;
      found.push(found[level] + height + down);
    });
    return found;
  }
}

/** Returns centres near `places`, in order, so that labels of these widths stay apart and inside 0..room. */
export function spread(places: number[], widths: number[], room: number, gap = 6): number[] {
  const centres = [...places];
  let edge = 0;
  widths.forEach((width, i) => {
    centres[i] = Math.max(centres[i], edge + width / 2);
    edge = centres[i] + width / 2 + gap;
  });
  edge = room;
  for (let i = widths.length - 1; i >= 0; i -= 1) {
    centres[i] = Math.min(centres[i], edge - widths[i] / 2);
    edge = centres[i] - widths[i] / 2 - gap;
  }
  return centres;
}
