// The width of an element.
import { useLayoutEffect, useState } from "preact/hooks";

const MAX_PAGE = 1680; // pixels
const AROUND = 100; // pixels: what a view has on both sides of a tree

/** Returns the width of an element; before it is drawn, a guess. */
export function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(() => Math.min(innerWidth, MAX_PAGE) - AROUND);
  useLayoutEffect(() => {
    const look = () => {
      const found = Math.round(element.current?.clientWidth ?? 0);
      if (found) setWidth(found);
    };
    look();
    const sized = new ResizeObserver(look);
    sized.observe(element.current!);
    return () => sized.disconnect();
  }, []);
  return width;
}
