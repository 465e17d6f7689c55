// Draws the chart of the bounds: scales, axes, lines, and a mark for every better tree.
import uPlot from "uplot";
import { number } from "../format.ts";
import { colour } from "../state/appearance.ts";
import { costs, type Improvement, momentOf } from "./moments.ts";
import type { Trace } from "./trace.ts";

export const HEIGHT = 280;

export interface Drawn {
  trace: Trace;
  improvements: Improvement[];
  log: boolean; // a logarithmic scale for the costs
  logTime: boolean;
  onPick?: (revision: number) => void;
}

/** The content of the chart, which is redrawn when it changes. */
export interface Current { current: Drawn }

/** Returns a power of ten below every positive cost, where a logarithmic scale draws zero. */
function floor({ trace, improvements }: Drawn): number {
  const lowest = trace.lower.reduce((least, x) => (x > 0 && x < least ? x : least), Infinity); // a wider space has lower ones
  const least = [lowest, trace.upper[trace.length - 1], improvements.at(-1)?.objective];
  const positive = least.filter((x) => x !== undefined && x > 0 && x < Infinity) as number[];
  return positive.length ? 10 ** (Math.ceil(Math.log10(Math.min(...positive))) - 1) : 1;
}

function earliest({ trace }: Drawn): number {
  return trace.seconds.find((x) => x > 0) ?? 0.001;
}

const raised = <Value extends number | null>(values: Value[], least: number) =>
  values.map((x) => (x !== null && x < least ? least : x));

export function plotted(drawn: Drawn): uPlot.AlignedData {
  const { trace, improvements, log, logTime } = drawn;
  const seconds = logTime ? raised(trace.seconds, earliest(drawn)) : trace.seconds;
  const lines = [trace.upper, trace.lower, costs(trace, improvements)];
  const least = log ? floor(drawn) : -Infinity;
  return [seconds, trace.explored, ...lines.map((values) => raised(values as (number | null)[], least))] as uPlot.AlignedData;
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

function axes(current: Current): uPlot.Axis[] {
  const axis = {
    stroke: colour("quiet"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 },
    font: "12px system-ui, sans-serif",
  };
  const logarithmic: Partial<uPlot.Axis> = { splits: (_, __, low, high) => decades(low, high), filter: (_, splits) => splits };
  const { log, logTime } = current.current;
  return [
    { ...axis, ...(logTime && logarithmic), values: (_, splits) => times(splits, logTime), size: 34 },
    {
      ...axis, ...(log && logarithmic), size: 62,
      values: (_, splits) => splits.map((x) => (log && x <= floor(current.current) ? "0" : number(x))),
    },
    {
      ...axis, scale: "share", side: 1, size: 58, grid: { show: false }, stroke: colour("good"), show: current.current.trace.hasShares,
      splits: () => [0, 0.25, 0.5, 0.75, 1], values: (_, splits) => splits.map((x) => `${100 * x} %`),
    },
  ];
}

function times(moments: number[], each: boolean): string[] {
  const last = moments[moments.length - 1] ?? 0;
  if (each) return moments.map((x) => (x < 1 ? `${number(1000 * x)} ms` : `${number(x)} s`));
  if (last < 0.5) return moments.map((x) => `${number(1000 * x)} ms`);
  return moments.map((x) => (last < 600 ? `${number(x)} s` : `${number(x / 60)} min`));
}

function spaced(low: number | null, high: number | null): [number, number] {
  const from = low ?? 0;
  const to = high ?? 1;
  const room = (to - from || Math.abs(to) || 1) * 0.06;
  return [from >= 0 && from < to / 2 ? 0 : from - room, to + room];
}

/** Charts that are zoomed in; new points must not reset their zoom. */
export const dragged = new WeakSet<uPlot>();

export function options(width: number, current: Current, setCursor: (at: number | null) => void): uPlot.Options {
  const { log, logTime } = current.current;
  const stepped = uPlot.paths.stepped!({ align: 1 });
  const line = (name: string, tint: string, thick: number, dash?: number[]): uPlot.Series =>
    ({ label: name, stroke: colour(tint), width: thick, dash, paths: stepped, points: { show: false } });
  return {
    width: width || 600,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, points: { size: 7 }, y: false },
    scales: {
      x: logTime ? { time: false, distr: 3, range: (_, low, high) => [low, Math.max(high, 1.01 * low)] } : { time: false },
      y: log
        ? { distr: 3, range: (_, __, high) => [floor(current.current), 1.15 * high] }
        : { range: (_, low, high) => spaced(low, high) },
      share: { range: [0, 1] },
    },
    // The bounds are drawn over the explored share.
    series: [
      {}, { ...line("Explored", "good", 1.5, [4, 3]), scale: "share" },
      line("Upper bound", "accent", 2), line("Lower bound", "text", 1.5), line("Cost of the tree", "accent", 1.5, [5, 4]),
    ],
    bands: [{ series: [2, 3], fill: colour("band") }],
    axes: axes(current),
    hooks: {
      draw: [(plot) => drawStages(plot, current.current), (plot) => drawMarks(plot, current.current)],
      setCursor: [(plot) => {
        const left = plot.cursor.left ?? -1;
        if (left < 0) setCursor(null);
        else setCursor(Math.max(0, plot.posToVal(left, "x")));
      }],
      setSelect: [(plot) => void (plot.select.width > 0 && dragged.add(plot))],
      ready: [(plot) => {
        plot.over.addEventListener("dblclick", () => dragged.delete(plot));
        plot.over.addEventListener("click", (event) => pick(plot, current.current, event));
      }],
    },
  };
}

/** Returns the positions of the marks: the time and the cost of each tree. */
function marks(plot: uPlot, drawn: Drawn, canvas: boolean): { revision: number; x: number; y: number }[] {
  const { trace, improvements } = drawn;
  const least = drawn.log ? floor(drawn) : -Infinity;
  const first = drawn.logTime ? earliest(drawn) : -Infinity;
  return improvements.flatMap(({ revision, objective }, i) => {
    const moment = momentOf(trace, improvements, i);
    if (moment === null) return [];
    const x = plot.valToPos(Math.max(first, moment), "x", canvas);
    return [{ revision, x, y: plot.valToPos(Math.max(least, objective), "y", canvas) }];
  });
}

/** Draws a line where the search went on to a wider space. */
function drawStages(plot: uPlot, { trace }: Drawn): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour("strong-line");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([]);
  for (const start of trace.stageStarts()) {
    const x = plot.valToPos(trace.seconds[start], "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

function drawMarks(plot: uPlot, drawn: Drawn): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.fillStyle = colour("back");
  ctx.strokeStyle = colour("accent");
  ctx.lineWidth = 2 * ratio;
  ctx.setLineDash([]); // the previous line may have set a dash pattern
  for (const { x, y } of marks(plot, drawn, true)) {
    if (x < plot.bbox.left - 1 || x > plot.bbox.left + plot.bbox.width + 1) continue;
    ctx.beginPath();
    ctx.arc(x, y, 3.5 * ratio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  }
  ctx.restore();
}

/** Shows the tree of the mark nearest to a click. */
function pick(plot: uPlot, drawn: Drawn, event: MouseEvent): void {
  const near = marks(plot, drawn, false)
    .map(({ revision, x }) => ({ revision, distance: Math.abs(x - event.offsetX) }))
    .sort((a, b) => a.distance - b.distance)[0];
  if (near && near.distance <= 8) drawn.onPick?.(near.revision);
}
