// The bounds closing in: upper and lower over search seconds, with the moments at which the tree improved.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { number, percent, seconds } from "../format.ts";
import { colour, dark } from "../state/appearance.ts";
import { useSignal } from "../state/signal.ts";
import type { Improvement } from "./feed.ts";
import type { Trace } from "./trace.ts";

const HEIGHT = 280;
const FLOOR_SHARE = 0.5; // of the smallest positive bound: where zero is drawn on a logarithmic scale

interface Props { trace: Trace; improvements: Improvement[]; onPick?: (revision: number) => void }

export function BoundChart({ trace, improvements, onPick }: Props) {
  const [log, setLog] = useState(false);
  const [cursor, setCursor] = useState<number | null>(null);
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const isDark = useSignal(dark);
  const current = useRef({ trace, improvements, log, onPick });
  current.current = { trace, improvements, log, onPick };

  useEffect(() => {
    const plot = new uPlot(options(host.current!.clientWidth, current, setCursor), data(current.current), host.current!);
    chart.current = plot;
    const sized = new ResizeObserver(() => {
      const width = host.current?.clientWidth ?? 0;
      if (width && width !== plot.width) plot.setSize({ width, height: HEIGHT });
    });
    sized.observe(host.current!);
    return () => {
      sized.disconnect();
      plot.destroy();
    };
  }, [log, isDark]);

  // The arrays of the trace grow in place: their length and end say whether there is anything new.
  const end = trace.length - 1;
  useEffect(() => {
    const plot = chart.current;
    if (!plot) return;
    plot.setData(data(current.current), !dragged.has(plot));
    if (dragged.has(plot)) plot.redraw();
  }, [trace, trace.length, trace.seconds[end], improvements.length, log, isDark]);

  return (
    <figure class="chart">
      <figcaption class="row">
        <span class="key upper">Upper bound</span>
        <span class="key lower">Lower bound</span>
        <span class="key mark">Better tree</span>
        <label class="push">
          <input type="checkbox" checked={log} onChange={(event) => setLog(event.currentTarget.checked)} /> Log scale
        </label>
      </figcaption>
      <div
        ref={host} class="plot" tabIndex={0} role="img" aria-label={summary(trace)}
        onKeyDown={(event) => walk(event, chart.current, trace, cursor, setCursor)}
        onBlur={() => setCursor(null)}
      />
      <Readout trace={trace} improvements={improvements} cursor={cursor} />
    </figure>
  );
}

/** The values under the pointer; without one, the last. */
function Readout({ trace, improvements, cursor }: { trace: Trace; improvements: Improvement[]; cursor: number | null }) {
  const at = cursor === null ? trace.length - 1 : trace.at(cursor);
  if (at < 0) return <p class="readout quiet">No bounds yet</p>;
  const upper = trace.upper[at];
  const gap = upper > 0 ? (upper - trace.lower[at]) / upper : 0;
  const moment = cursor ?? trace.seconds[at];
  const found = improvements.filter((_, i) => (momentOf(trace, improvements, i) ?? Infinity) <= moment + 1e-9).pop();
  return (
    <dl class="readout">
      <div><dt>After</dt><dd>{seconds(moment)}</dd></div>
      <div><dt>Upper</dt><dd class="upper">{number(upper)}</dd></div>
      <div><dt>Lower</dt><dd class="lower">{number(trace.lower[at])}</dd></div>
      <div><dt>Gap</dt><dd>{percent(gap)}</dd></div>
      <div><dt>Expansions</dt><dd>{number(trace.expansions[at])}</dd></div>
      {found && <div><dt>Tree</dt><dd>{found.revision}</dd></div>}
    </dl>
  );
}

function summary(trace: Trace): string {
  const last = trace.length - 1;
  if (last < 0) return "Chart of the bounds; nothing is known yet.";
  return `Chart of the bounds over ${seconds(trace.seconds[last])} of search. The best found fell from ` +
    `${number(trace.upper[0])} to ${number(trace.upper[last])}; the proven bound rose from ` +
    `${number(trace.lower[0])} to ${number(trace.lower[last])}. Left and right arrow keys read out moments.`;
}

/** Arrow keys move the cursor through the moments. */
function walk(
  event: KeyboardEvent, plot: uPlot | undefined, trace: Trace, cursor: number | null, setCursor: (at: number | null) => void,
): void {
  const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -25, PageDown: 25 };
  if (!plot || !trace.length || !(event.key in steps || event.key === "Home" || event.key === "End")) return;
  event.preventDefault();
  const last = trace.length - 1;
  const here = cursor === null ? last : trace.at(cursor);
  const next = event.key === "Home" ? 0 : event.key === "End" ? last : Math.min(last, Math.max(0, here + steps[event.key]));
  setCursor(trace.seconds[next]);
  plot.setCursor({ left: plot.valToPos(trace.seconds[next], "x"), top: -10 }, false);
}

type Current = { current: { trace: Trace; improvements: Improvement[]; log: boolean; onPick?: (revision: number) => void } };

/** The trace knows the moment better than the event that told of it, if the bound fell with the tree. */
export function momentOf(trace: Trace, improvements: Improvement[], index: number): number | null {
  const entry = improvements[index];
  const fell = index === 0 || entry.upper < improvements[index - 1].upper;
  const reached = fell ? trace.reached(entry.upper) : -1;
  return reached < 0 || entry.seconds === null ? entry.seconds : Math.min(reached, entry.seconds);
}

function floor(trace: Trace): number {
  const smallest = Math.min(...[trace.lower.find((x) => x > 0), trace.upper[trace.length - 1]].filter((x) => x !== undefined && x > 0) as number[]);
  return Number.isFinite(smallest) ? FLOOR_SHARE * smallest : 1;
}

function data({ trace, log }: Current["current"]): uPlot.AlignedData {
  if (!log) return [trace.seconds, trace.upper, trace.lower];
  const least = floor(trace);
  const raised = (values: number[]) => values.map((x) => (x < least ? least : x));
  return [trace.seconds, raised(trace.upper), raised(trace.lower)];
}

/** Charts whose reader has zoomed in: new points must not take them back. */
const dragged = new WeakSet<uPlot>();

function options(width: number, current: Current, setCursor: (at: number | null) => void): uPlot.Options {
  const axis = { stroke: colour("quiet"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 }, font: "12px system-ui, sans-serif" };
  const stepped = uPlot.paths.stepped!({ align: 1 });
  const line = (name: string, tint: string, thick: number): uPlot.Series =>
    ({ label: name, stroke: colour(tint), width: thick, paths: stepped, points: { show: false } });
  return {
    width: width || 600,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, points: { size: 7 }, y: false },
    scales: {
      x: { time: false },
      y: current.current.log ? { distr: 3 } : { range: (_, low, high) => spaced(low, high) },
    },
    series: [{}, line("Best found", "accent", 2), line("Proven", "text", 1.5)],
    bands: [{ series: [1, 2], fill: colour("band") }],
    axes: [
      { ...axis, values: (_, splits) => times(splits), size: 34 },
      { ...axis, values: (_, splits) => splits.map((x) => (x === null ? "" : number(x))), size: 62 },
    ],
    hooks: {
      draw: [(plot) => drawMarks(plot, current.current)],
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

function times(moments: number[]): string[] {
  const last = moments[moments.length - 1] ?? 0;
  if (last < 0.5) return moments.map((x) => `${number(1000 * x)} ms`);
  return moments.map((x) => (last < 600 ? `${number(x)} s` : `${number(x / 60)} min`));
}

function spaced(low: number | null, high: number | null): [number, number] {
  const from = low ?? 0;
  const to = high ?? 1;
  const room = (to - from || Math.abs(to) || 1) * 0.06;
  return [from >= 0 && from < to / 2 ? 0 : from - room, to + room];
}

/** A dot on the upper line for every better tree. */
function drawMarks(plot: uPlot, { trace, improvements, log }: Current["current"]): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  const least = log ? floor(trace) : -Infinity;
  ctx.save();
  ctx.fillStyle = colour("back");
  ctx.strokeStyle = colour("accent");
  ctx.lineWidth = 2 * ratio;
  improvements.forEach((entry, i) => {
    const moment = momentOf(trace, improvements, i);
    if (moment === null) return;
    const x = plot.valToPos(moment, "x", true);
    const y = plot.valToPos(Math.max(least, entry.upper), "y", true);
    if (x < plot.bbox.left - 1 || x > plot.bbox.left + plot.bbox.width + 1) return;
    ctx.beginPath();
    ctx.arc(x, y, 3.5 * ratio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  });
  ctx.restore();
}

/** A click near a mark shows that tree. */
function pick(plot: uPlot, { trace, improvements, onPick }: Current["current"], event: MouseEvent): void {
  const near = improvements
    .map((entry, i) => ({ entry, moment: momentOf(trace, improvements, i) }))
    .filter(({ moment }) => moment !== null)
    .map(({ entry, moment }) => ({ entry, distance: Math.abs(plot.valToPos(moment!, "x") - event.offsetX) }))
    .sort((a, b) => a.distance - b.distance)[0];
  if (near && near.distance <= 8) onPick?.(near.entry.revision);
}
