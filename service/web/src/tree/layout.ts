// Places the boxes of a tree. Every subtree has its own columns, so boxes of a level do not overlap.
import type { Tree } from "../api/types.ts";
import { depthsOf } from "./shape.ts";

export interface Size { width: number; height: number }
export interface Spot { x: number; y: number }
export interface Layout { spots: Spot[]; width: number; height: number }

const GAP = 16;
const RISE = 46;
const MAX_ASPECT_RATIO = 1.8; // width by height: wider trees get more distance between levels
const MAX_RISE = 8 * RISE;

export function layout(tree: Tree, sizes: Size[]): Layout {
  const { nodes } = tree;
  const spans = new Array<number>(nodes.length).fill(0);
  const below = (i: number) => spans[nodes[i].split!.left] + GAP + spans[nodes[i].split!.right];
  for (let i = nodes.length - 1; i >= 0; i -= 1) {
    spans[i] = Math.max(sizes[i].width, nodes[i].split ? below(i) : 0);
  }
  const starts = new Array<number>(nodes.length).fill(0);
  const depths = depthsOf(tree);
  nodes.forEach(({ split }, i) => {
    if (!split) return;
    starts[split.left] = starts[i] + (spans[i] - below(i)) / 2;
    starts[split.right] = starts[split.left] + spans[split.left] + GAP;
  });
  const centres = starts.map((start, i) => start + spans[i] / 2);
  for (let i = nodes.length - 1; i >= 0; i -= 1) { // centre over the children, within the column
    const { split } = nodes[i];
    if (!split) continue;
    const half = sizes[i].width / 2;
    const middle = (centres[split.left] + centres[split.right]) / 2;
    centres[i] = Math.min(Math.max(middle, starts[i] + half), starts[i] + spans[i] - half);
  }
  const close = levels(tree, sizes, depths, centres, 0);
  const wanted = (spans[0] / MAX_ASPECT_RATIO - close[close.length - 1]) / Math.max(1, close.length - 2);
  const tops = wanted > 0 ? levels(tree, sizes, depths, centres, Math.min(MAX_RISE, wanted)) : close;
  const spots = sizes.map((size, i) => ({ x: centres[i] - size.width / 2, y: tops[depths[i]] }));
  return { spots, width: spans[0], height: tops[tops.length - 1] };
}

/** Returns the top of each level and the bottom of the last; distant children get more height. */
function levels(tree: Tree, sizes: Size[], depths: number[], centres: number[], more: number): number[] {
  const tops = [0];
  for (let level = 0; level <= Math.max(...depths); level += 1) {
    let tallest = 0;
    let farthest = -1;
    tree.nodes.forEach(({ split }, i) => {
      if (depths[i] !== level) return;
      tallest = Math.max(tallest, sizes[i].height);
      if (split) farthest = Math.max(farthest, ...[split.left, split.right].map((child) => Math.abs(centres[child] - centres[i])));
    });
    const rise = farthest < 0 ? 0 : Math.min(Math.max(RISE, 0.05 * farthest), 3 * RISE) + more;
    tops.push(tops[level] + tallest + rise);
  }
  return tops;
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
