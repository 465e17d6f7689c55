// What the charts of a job have in common: the time axis, its zoom, and the way axes are drawn.
import uPlot from "uplot";
import { number } from "../format.ts";
import { colour } from "../state/appearance.ts";
import type { Improvement } from "./moments.ts";
import type { Trace } from "./trace.ts";

export type Span = [number, number]; // in search seconds

/** How time is shown. Both charts share it. */
export interface TimeView {
  sync: string; // charts with the same name share the cursor
  logTime: boolean;
  zoom: Span | null; // null shows all
  onZoom: (zoom: Span | null) => void;
}

const LEFT = 62;
const RIGHT = 58;

/** Returns the first time that a logarithmic scale can show. */
export function earliest(trace: Trace, improvements: Improvement[]): number {
  const times = [trace.seconds.find((x) => x > 0), improvements.find(({ seconds }) => (seconds ?? 0) > 0)?.seconds];
  return Math.min(...times.filter((x) => x != null), 1e9);
}

export function timeSpan(trace: Trace, improvements: Improvement[], { logTime, zoom }: Pick<TimeView, "logTime" | "zoom">): Span {
  if (zoom) return zoom;
  // A tree is found a little before the bounds are recorded.
  const first = logTime ? earliest(trace, improvements) : Math.min(trace.seconds[0] ?? 0, improvements[0]?.seconds ?? Infinity);
  const last = trace.seconds[trace.length - 1] ?? 1;
  return [first, last > first ? last : logTime ? 1.01 * first : first + 0.001];
}

export function timeScale(logTime: boolean): uPlot.Scale {
  return { time: false, auto: false, distr: logTime ? 3 : 1, range: (_, low, high) => [low, high] };
}

/** Returns 1, 2 and 5 times each power of ten in the range; only 1 if there are many powers. */
function decades(low: number, high: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const steps = last - first > 4 ? [1] : [1, 2, 5];
  const found: number[] = [];
  for (let power = first; power <= last; power += 1) {
    for (const step of steps) found.push(Number((step * 10 ** power).toPrecision(1)));
  }
  return found.filter((x) => x >= low * (1 - 1e-9) && x <= high * (1 + 1e-9));
}

export const LOGARITHMIC: Partial<uPlot.Axis> = { splits: (_, __, low, high) => decades(low, high), filter: (_, splits) => splits };

function axisStyle(): uPlot.Axis {
  const tick = { stroke: colour("line"), width: 1 };
  return { stroke: colour("quiet"), grid: tick, ticks: tick, font: "12px system-ui, sans-serif" };
}

export function timeAxis(logTime: boolean): uPlot.Axis {
  return { ...axisStyle(), ...(logTime && LOGARITHMIC), values: (_, splits) => times(splits, logTime), size: 34 };
}

export function leftAxis(more: Partial<uPlot.Axis>): uPlot.Axis {
  return { ...axisStyle(), size: LEFT, ...more };
}

/** The right axis is as wide in both charts, so that their times are below each other. */
export function rightAxis(show: boolean, more: Partial<uPlot.Axis>): uPlot.Axis {
  return { ...axisStyle(), side: 1, size: RIGHT, grid: { show: false }, show, ...more };
}

function times(moments: number[], each: boolean): string[] {
  const last = moments[moments.length - 1] ?? 0;
  if (each) return moments.map((x) => (x < 1 ? `${number(1000 * x)} ms` : `${number(x)} s`));
  if (last < 0.5) return moments.map((x) => `${number(1000 * x)} ms`);
  return moments.map((x) => (last < 600 ? `${number(x)} s` : `${number(x / 60)} min`));
}

/** The cursor shows the same time in both charts, and dragging zooms both. */
export function sharedCursor({ sync }: TimeView): uPlot.Cursor {
  return {
    drag: { x: true, y: false, setScale: false }, points: { size: 7 }, y: false,
    sync: { key: sync, scales: ["x", null], filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
    bind: { dblclick: () => () => null },
  };
}

export function zoomHooks(time: () => TimeView): uPlot.Hooks.Arrays {
  return {
    setSelect: [(plot) => {
      const { left, width } = plot.select;
      if (width <= 0) return;
      plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      time().onZoom([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")]);
    }],
    ready: [(plot) => plot.over.addEventListener("dblclick", () => time().onZoom(null))],
  };
}

export interface Mark { revision: number; x: number; y: number }

/** Draws a circle for each tree; that of the chosen tree is filled, and there may be a ring around one. */
export function drawMarks({ ctx, bbox }: uPlot, marks: Mark[], tint: string, chosen: number, ringed?: number): void {
  const ratio = devicePixelRatio;
  const [line, back] = [colour(tint), colour("back")];
  const circle = (x: number, y: number, radius: number) => {
    ctx.beginPath();
    ctx.arc(x, y, radius * ratio, 0, 2 * Math.PI);
  };
  ctx.save();
  ctx.setLineDash([]); // the previous line may have set a dash pattern
  ctx.strokeStyle = line;
  ctx.lineWidth = 2 * ratio;
  for (const { revision, x, y } of marks) {
    if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) continue;
    ctx.fillStyle = revision === chosen ? line : back;
    circle(x, y, revision === chosen ? 5 : 3.5);
    ctx.fill();
    ctx.stroke();
    if (revision !== ringed) continue;
    circle(x, y, 9);
    ctx.stroke();
  }
  ctx.restore();
}

/** Returns the tree of the mark near a click, if there is one. */
export function markAt(marks: Mark[], event: MouseEvent): number | undefined {
  const near = marks
    .map(({ revision, x }) => ({ revision, distance: Math.abs(x - event.offsetX) }))
    .sort((a, b) => a.distance - b.distance)[0];
  return near && near.distance <= 8 ? near.revision : undefined;
}
