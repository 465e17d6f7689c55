// Whether a tree that was loaded again is the one that was shown before.
import { useRef } from "preact/hooks";
import type { Tree } from "../api/types.ts";
import { changes } from "./shape.ts";

/** Returns the first of successive trees with the same nodes: newer bounds do not make another tree of it. */
export function useSameTree(tree: Tree): Tree {
  const known = useRef({ first: tree, last: tree });
  const { first, last } = known.current;
  if (last !== tree) {
    const same = first.nodes.length === tree.nodes.length && changes(first, tree).size === 0;
    known.current = { first: same ? first : tree, last: tree };
  }
  return known.current.first;
}
