// Places the nodes of a subtree as an icicle: a bar for each node, as wide as its rows, below that of its parent.
import type { Tree } from "../api/types.ts";

export interface Bar { index: number; level: number; x: number; width: number } // x and width as parts of the whole

/** Returns the bars from `top` down, parents first; the first levels are the nodes above `top`. */
export function bars(tree: Tree, above: number[]): Bar[] {
  const found: Bar[] = above.slice(0, -1).map((index, level) => ({ index, level, x: 0, width: 1 }));
  const add = (index: number, level: number, x: number, width: number): void => {
    found.push({ index, level, x, width });
    const { rows, split } = tree.nodes[index];
    if (!split) return;
    const left = (width * tree.nodes[split.left].rows) / rows;
    add(split.left, level + 1, x, left);
    add(split.right, level + 1, x + left, width - left);
  };
  add(above.at(-1)!, above.length - 1, 0, 1);
  return found;
}

export function barAt(found: Bar[], x: number, level: number): Bar | undefined {
  return found.find((bar) => bar.level === level && x >= bar.x && x < bar.x + bar.width);
}
