// The width of an element.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

const MAX_PAGE = 1680; // pixels
const AROUND = 100; // pixels: what a view has on both sides of a tree

/** Returns the width of an element; while it is `held`, the width before that. Before it is drawn, a guess. */
export function useWidth(element: { current: HTMLElement | null }, held = false): number {
  const [width, setWidth] = useState(() => Math.min(innerWidth, MAX_PAGE) - AROUND);
  const measured = useRef(false);
  const still = useRef(held);
  still.current = held && measured.current;
  useLayoutEffect(() => {
    const look = () => {
      const found = Math.round(element.current?.clientWidth ?? 0);
      if (still.current || !found) return;
      measured.current = true;
      setWidth(found);
    };
    look();
    const sized = new ResizeObserver(look);
    sized.observe(element.current!);
    return () => sized.disconnect();
  }, []);
  return width;
}
