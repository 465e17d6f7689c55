// Scales, ticks and axes of the charts of a sweep.
import { useEffect, useState } from "preact/hooks";

export interface Frame { left: number; right: number; top: number; bottom: number } // in pixels
export type Scale = (value: number) => number;

export const linear = (low: number, high: number, from: number, to: number): Scale =>
  (value) => from + ((value - low) / (high - low || 1)) * (to - from);

export const logarithmic = (low: number, high: number, from: number, to: number): Scale => {
  const scale = linear(Math.log(low), Math.log(high), from, to);
  return (value) => scale(Math.log(value));
};

/** Returns about `most` round numbers between the ends. */
export function roundTicks(low: number, high: number, most = 5): number[] {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= rough) ?? 10);
  const found: number[] = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + 1e-9 * step; at += 1) found.push(Number((at * step).toPrecision(12)));
  return found;
}

/** Returns numbers of the form 1, 2, 5 times a power of ten between the ends, or of ten only if there are many. */
export function logTicks(low: number, high: number, most = 8): number[] {
  const found = [1, 2, 5].map((step) => {
    const list: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) list.push(Number((step * 10 ** power).toPrecision(1)));
    return list.filter((x) => x >= low * (1 - 1e-9) && x <= high * (1 + 1e-9));
  });
  const all = found.flat().sort((a, b) => a - b);
  return all.length <= most ? all : found[0];
}

export function LeftAxis({ frame, ticks, scale, format, name }: { frame: Frame; ticks: number[]; scale: Scale; format: (value: number) => string; name: string }) {
  return (
    <g class="axis" aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick}>
          <path class="grid" d={`M${frame.left} ${scale(tick)}H${frame.right}`} />
          <text x={frame.left - 6} y={scale(tick) + 4} text-anchor="end">{format(tick)}</text>
        </g>
      ))}
      <text class="axis-name" x={4} y={frame.top - 8}>{name}</text>
    </g>
  );
}

export function BottomAxis({ frame, ticks, scale, format, name }: { frame: Frame; ticks: number[]; scale: Scale; format: (value: number) => string; name: string }) {
  return (
    <g class="axis" aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick}>
          <path class="grid" d={`M${scale(tick)} ${frame.top}V${frame.bottom}`} />
          <text x={scale(tick)} y={frame.bottom + 16} text-anchor="middle">{format(tick)}</text>
        </g>
      ))}
      <text class="axis-name" x={frame.right} y={frame.bottom + 32} text-anchor="end">{name}</text>
    </g>
  );
}

/** Returns a reference for an element and its width in pixels, which is 0 before it is known. */
export function useWidth() {
  const [element, setElement] = useState<HTMLDivElement | null>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!element) return undefined;
    const measured = new ResizeObserver(() => setWidth(element.clientWidth));
    measured.observe(element);
    return () => measured.disconnect();
  }, [element]);
  return [setElement, width] as const;
}
