// Draws the chart of the bounds: scales, axes, lines, and a mark for every better tree.
import uPlot from "uplot";
import { number } from "../format.ts";
import { colour } from "../state/appearance.ts";
import {
  drawMarks, earliest, leftAxis, LOGARITHMIC, type Mark, markAt, rightAxis, sharedCursor, timeAxis, timeScale, type TimeView, zoomHooks,
} from "./axes.ts";
import { costs, type Improvement } from "./moments.ts";
import type { Trace } from "./trace.ts";

const HEIGHT = 280;

export interface Drawn {
  trace: Trace;
  improvements: Improvement[];
  time: TimeView;
  log: boolean; // a logarithmic scale for the costs
  chosen: number; // the tree that is shown
  onPick?: (revision: number) => void;
}

/** The content of the chart, which is redrawn when it changes. */
interface Current { current: Drawn }

/** Returns a power of ten below every positive cost, where a logarithmic scale draws zero. */
function floor({ trace, improvements }: Drawn): number {
  const lowest = trace.lower.reduce((least, x) => (x > 0 && x < least ? x : least), Infinity); // a wider space has lower ones
  const least = [lowest, trace.upper[trace.length - 1], improvements.at(-1)?.objective];
  const positive = least.filter((x) => x !== undefined && x > 0 && x < Infinity) as number[];
  return positive.length ? 10 ** (Math.ceil(Math.log10(Math.min(...positive))) - 1) : 1;
}

const raised = <Value extends number | null>(values: Value[], least: number) =>
  values.map((x) => (x !== null && x < least ? least : x));

export function plotted(drawn: Drawn): uPlot.AlignedData {
  const { trace, improvements, log, time } = drawn;
  const seconds = time.logTime ? raised(trace.seconds, earliest(trace, improvements)) : trace.seconds;
  const lines = [trace.upper, trace.lower, costs(trace, improvements)];
  const least = log ? floor(drawn) : -Infinity;
  return [seconds, trace.explored, ...lines.map((values) => raised(values as (number | null)[], least))] as uPlot.AlignedData;
}

function axes(current: Current): uPlot.Axis[] {
  const { log, time, trace } = current.current;
  return [
    timeAxis(time.logTime),
    leftAxis({
      ...(log && LOGARITHMIC),
      values: (_, splits) => splits.map((x) => (log && x <= floor(current.current) ? "0" : number(x))),
    }),
    rightAxis(trace.hasShares, {
      scale: "share", stroke: colour("good"), splits: () => [0, 0.25, 0.5, 0.75, 1], values: (_, splits) => splits.map((x) => `${100 * x} %`),
    }),
  ];
}

function spaced(low: number | null, high: number | null): [number, number] {
  const from = low ?? 0;
  const to = high ?? 1;
  const room = (to - from || Math.abs(to) || 1) * 0.06;
  return [from >= 0 && from < to / 2 ? 0 : from - room, to + room];
}

export function options(width: number, current: Current, setCursor: (at: number | null) => void): uPlot.Options {
  const { log, time } = current.current;
  const stepped = uPlot.paths.stepped!({ align: 1 });
  const line = (name: string, tint: string, thick: number, dash?: number[]): uPlot.Series =>
    ({ label: name, stroke: colour(tint), width: thick, dash, paths: stepped, points: { show: false } });
  const zoom = zoomHooks(() => current.current.time);
  return {
    width: width || 600,
    height: HEIGHT,
    legend: { show: false },
    cursor: sharedCursor(time),
    scales: {
      x: timeScale(time.logTime),
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
      ...zoom,
      draw: [(plot) => drawStages(plot, current.current.trace), (plot) => drawMarks(plot, marks(plot, current.current, true), "accent", current.current.chosen)],
      setCursor: [(plot) => {
        const left = plot.cursor.left ?? -1;
        setCursor(left < 0 ? null : Math.max(0, plot.posToVal(left, "x")));
      }],
      ready: [...zoom.ready!, (plot) => plot.over.addEventListener("click", (event) => {
        const revision = markAt(marks(plot, current.current, false), event);
        if (revision !== undefined) current.current.onPick?.(revision);
      })],
    },
  };
}

/** Returns the positions of the marks: the time and the cost of each tree. */
function marks(plot: uPlot, drawn: Drawn, canvas: boolean): Mark[] {
  const least = drawn.log ? floor(drawn) : -Infinity;
  const first = drawn.time.logTime ? earliest(drawn.trace, drawn.improvements) : -Infinity;
  return drawn.improvements.flatMap(({ revision, objective, seconds }) => {
    if (seconds === null) return [];
    const x = plot.valToPos(Math.max(first, seconds), "x", canvas);
    return [{ revision, x, y: plot.valToPos(Math.max(least, objective), "y", canvas) }];
  });
}

/** Draws a line where the search went on to a wider space. */
function drawStages(plot: uPlot, trace: Trace): void {
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
