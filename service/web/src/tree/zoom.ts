// Zoom and pan of a drawing: wheel with Ctrl (or once the drawing has the focus), drag, pinch, buttons.
import { type RefObject } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

interface View { x: number; y: number; scale: number }

const MIN_SCALE = 0.05;
const MAX_SCALE = 4;
export const MARGIN = 14;
const LEAST_HELD = 0.65; // scale
const LEAST_READABLE = 0.7; // scale
const DRAG = 4; // pixels: a shorter movement is a click

/** With `held` the drawing keeps its place when the stage becomes so small that the fitted drawing could not be read. */
export function useZoom(svg: RefObject<SVGSVGElement | null>, width: number, height: number, held: boolean) {
  const [view, setView] = useState<View>({ x: MARGIN, y: MARGIN, scale: 1 });
  const untouched = useRef(true); // the drawing is fitted until the user moves it
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const travelled = useRef(0);
  const still = useRef(held);
  still.current = held;

  const fitNow = useCallback((least = 0) => {
    const stage = svg.current?.getBoundingClientRect();
    if (!stage?.width || !stage.height) return;
    const scale = Math.min(1, (stage.width - 2 * MARGIN) / width, (stage.height - 2 * MARGIN) / height);
    if (scale < least) return;
    const top = Math.max(MARGIN, Math.min((stage.height - height * scale) / 2, 40));
    setView({ scale, x: (stage.width - width * scale) / 2, y: top });
  }, [width, height]);

  useEffect(() => {
    if (untouched.current) fitNow();
    const sized = new ResizeObserver(() => untouched.current && fitNow(still.current ? LEAST_HELD : 0));
    sized.observe(svg.current!);
    return () => sized.disconnect();
  }, [fitNow]);

  const zoomAt = (factor: number, x: number, y: number) => {
    untouched.current = false;
    setView((old) => {
      const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, old.scale * factor));
      const ratio = scale / old.scale;
      return { scale, x: x - (x - old.x) * ratio, y: y - (y - old.y) * ratio };
    });
  };
  const inside = (event: MouseEvent) => {
    const box = svg.current!.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  useEffect(() => {
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey && !svg.current!.contains(document.activeElement)) return;
      event.preventDefault();
      const at = inside(event);
      zoomAt(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0018)), at.x, at.y);
    };
    const element = svg.current!;
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);

  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      if (pointers.current.size === 0) travelled.current = 0;
      pointers.current.set(event.pointerId, inside(event));
    },
    onPointerMove: (event: PointerEvent) => {
      const before = pointers.current.get(event.pointerId);
      if (!before) return;
      const now = inside(event);
      travelled.current += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      if (travelled.current < DRAG) return;
      svg.current!.setPointerCapture(event.pointerId);
      const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
      pointers.current.set(event.pointerId, now);
      untouched.current = false;
      if (other) {
        const distance = (point: { x: number; y: number }) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
        zoomAt(distance(now) / distance(before), other.x, other.y);
      } else {
        // Until the browser takes over a vertical swipe to scroll the page, the drawing must not follow it.
        const scrolls = event.pointerType === "touch" && getComputedStyle(svg.current!).touchAction !== "none";
        setView((old) => ({ ...old, x: old.x + now.x - before.x, y: old.y + (scrolls ? 0 : now.y - before.y) }));
      }
    },
    onPointerUp: (event: PointerEvent) => void pointers.current.delete(event.pointerId),
    onPointerCancel: (event: PointerEvent) => void pointers.current.delete(event.pointerId),
  };

  return {
    view,
    handlers,
    /** Returns whether the last press was a drag and not a click. */
    moved: () => travelled.current >= DRAG,
    fit: () => {
      untouched.current = true;
      fitNow();
    },
    by: (factor: number) => {
      const box = svg.current!.getBoundingClientRect();
      zoomAt(factor, box.width / 2, box.height / 2);
    },
    /** Pans until this part is visible. */
    reveal: (x: number, y: number, partWidth: number, partHeight: number) => {
      const box = svg.current?.getBoundingClientRect();
      if (!box) return; // the view was closed meanwhile
      setView((old) => {
        const shift = (start: number, size: number, room: number) =>
          (start < MARGIN ? MARGIN - start : start + size > room - MARGIN ? room - MARGIN - start - size : 0);
        const dx = shift(old.x + x * old.scale, partWidth * old.scale, box.width);
        const dy = shift(old.y + y * old.scale, partHeight * old.scale, box.height);
        return dx || dy ? { ...old, x: old.x + dx, y: old.y + dy } : old;
      });
    },
    /** Zooms to a part; a part too large to be read is shown at its end. */
    frame: (x: number, y: number, partWidth: number, partHeight: number, endX: number) => {
      const box = svg.current!.getBoundingClientRect();
      const [roomX, roomY] = [box.width - 2 * MARGIN, box.height - 2 * MARGIN];
      const scale = Math.min(1, Math.max(LEAST_READABLE, Math.min(roomX / partWidth, roomY / partHeight)));
      const left = partWidth * scale <= roomX ? x + partWidth / 2 : Math.min(Math.max(endX, x + roomX / scale / 2), x + partWidth - roomX / scale / 2);
      const top = partHeight * scale <= roomY ? y : y + partHeight - roomY / scale;
      untouched.current = false;
      setView({ scale, x: box.width / 2 - left * scale, y: MARGIN - top * scale });
    },
  };
}
