// The chart of the bounds over search time, with a mark for every better tree.
import { useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { capitalized, number, percent, roughPercent, seconds } from "../format.ts";
import { dark } from "../state/appearance.ts";
import { useSignal } from "../state/signal.ts";
import { BEYOND_SPACE, spaceWords } from "../words.ts";
import { type Span, timeSpan, type TimeView } from "./axes.ts";
import { type Improvement, polished } from "./moments.ts";
import { type Drawn, options, plotted } from "./plot.ts";
import type { Trace } from "./trace.ts";
import { usePlot } from "./use-plot.ts";

interface Props {
  trace: Trace;
  improvements: Improvement[];
  spaces: Map<number, string>; // the search space of each stage
  time: TimeView;
  onLogTime: (logTime: boolean) => void;
  log: boolean;
  onLog: (log: boolean) => void;
  chosen: number; // the tree that is shown
  onPick?: (revision: number) => void;
}

export function BoundChart({ trace, improvements, spaces, time, onLogTime, log, onLog, chosen, onPick }: Props) {
  const [cursor, setCursor] = useState<number | null>(null);
  const isDark = useSignal(dark);
  const current = useRef<Drawn>(null!);
  current.current = { trace, improvements, time, log, chosen, onPick };
  const shares = trace.hasShares;
  // The arrays of the trace grow in place, so their length and last values show whether there is something new.
  const end = trace.length - 1;
  const { host, chart } = usePlot(
    {
      options: (width) => options(width, current, setCursor), data: () => plotted(current.current),
      span: () => timeSpan(trace, improvements, time),
    },
    [log, time.logTime, isDark, shares],
    [trace, trace.length, trace.seconds[end], improvements, chosen, time.zoom],
  );
  const beyond = polished(trace, improvements);
  const stages = trace.stageStarts().length;

  return (
    <figure class="chart bounds">
      <figcaption class="row">
        <span class="key upper">Upper bound</span>
        <span class="key lower">Lower bound</span>
        {beyond && <span class="key cost">Cost of the tree</span>}
        {shares && <span class="key share">Explored (right axis)</span>}
        <span class="key mark">Better tree</span>
        {stages > 0 && <span class="key wider">Wider space</span>}
        <span class="row push">
          {time.zoom && <button type="button" class="small" onClick={() => time.onZoom(null)}>Show all</button>}
          <label><input type="checkbox" checked={log} onChange={(event) => onLog(event.currentTarget.checked)} /> Log scale</label>
          <label><input type="checkbox" checked={time.logTime} onChange={(event) => onLogTime(event.currentTarget.checked)} /> Log time</label>
        </span>
      </figcaption>
      <div
        ref={host} class="plot" tabIndex={0} role="img" aria-label={summary(trace)}
        onKeyDown={(event) => {
          walk(event, chart.current, trace, cursor, setCursor);
          magnify(event, timeSpan(trace, improvements, { ...time, zoom: null }), time, cursor);
        }}
        onBlur={() => setCursor(null)}
      />
      <Readout {...{ trace, improvements, spaces, cursor, beyond }} />
      <p class="help">
        Drag over the chart to zoom in, double-click to reset the zoom, click a mark to show its tree.
        {stages > 0 && " At each vertical line the search went on to a wider space; the bounds and the explored share start again there."}
        {beyond && ` ${BEYOND_SPACE}`}
      </p>
    </figure>
  );
}

/** Shows the values under the pointer, or the last ones. */
function Readout(
  { trace, improvements, spaces, cursor, beyond }: Pick<Props, "trace" | "improvements" | "spaces"> & { cursor: number | null; beyond: boolean },
) {
  const at = cursor === null ? trace.length - 1 : Math.max(0, trace.at(cursor));
  if (!trace.length) return <p class="readout quiet">No bounds yet</p>;
  const upper = trace.upper[at];
  const lower = trace.lower[at];
  const moment = cursor ?? trace.seconds[at];
  const found = improvements.findLast((entry) => (entry.seconds ?? Infinity) <= moment + 1e-9);
  return (
    <dl class="readout">
      <div><dt>After</dt><dd>{seconds(moment)}</dd></div>
      <div><dt>Upper</dt><dd class="upper">{number(upper)}</dd></div>
      <div><dt>Lower</dt><dd class="lower">{number(lower)}</dd></div>
      {lower > 0 && <div><dt>Gap</dt><dd>{percent(upper > 0 ? (upper - lower) / upper : 0)}</dd></div>}
      {trace.explored[at] !== null && <div><dt>Explored</dt><dd>{roughPercent(trace.explored[at])}</dd></div>}
      <div><dt>Expansions</dt><dd>{number(trace.expansions[at])}</dd></div>
      {found && <div><dt>Tree</dt><dd>{found.revision}{beyond && `, cost ${number(found.objective)}`}</dd></div>}
      {trace.stage[trace.length - 1] > 0 && (
        <div title={spaceWords(spaces.get(trace.stage[at]) ?? "")}>
          <dt>Stage</dt><dd>{trace.stage[at] + 1}{spaces.get(trace.stage[at]) && `, ${spaces.get(trace.stage[at])}`}</dd>
        </div>
      )}
    </dl>
  );
}

function summary(trace: Trace): string {
  const last = trace.length - 1;
  if (last < 0) return "Chart of the bounds. There are no bounds yet.";
  const first = trace.stageStarts().at(-1) ?? 0;
  const share = trace.explored[last];
  return `Chart of the bounds over ${seconds(trace.seconds[last])} of search. ${first > 0 ? "In its present stage, the" : "The"} upper bound ` +
    `fell from ${number(trace.upper[first])} to ${number(trace.upper[last])}; the lower bound rose from ` +
    `${number(trace.lower[first])} to ${number(trace.lower[last])}. ` +
    `${share === null ? "" : `${capitalized(roughPercent(share))} of the search space is explored. `}` +
    "The left and right arrow keys move between the points; plus, minus and 0 zoom.";
}

/** Moves the cursor with the arrow keys. */
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

/** Zooms with the keys: plus halves the span around the cursor, minus doubles it, and 0 shows all. */
function magnify(event: KeyboardEvent, [first, last]: Span, { zoom, onZoom }: TimeView, cursor: number | null): void {
  const factor = { "+": 0.5, "=": 0.5, "-": 2, "0": Infinity }[event.key];
  if (factor === undefined || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const [from, to] = zoom ?? [first, last];
  const span = factor * (to - from);
  const middle = cursor ?? (from + to) / 2;
  if (span >= last - first) onZoom(null);
  else if (span > 1e-6) onZoom([Math.max(first, middle - span / 2), Math.min(last, middle + span / 2)]);
}
