// The chart of the scores against the leaves of all complete trials.
import { useMemo, useState } from "preact/hooks";
import type { Select, Trial } from "../api/types.ts";
import { number } from "../format.ts";
import { BottomAxis, type Frame, LeftAxis, linear, logarithmic, roundTicks, useWidth } from "./axes.tsx";
import { bestOf, type Dot, dotsOf, frontOf } from "./front.ts";
import { chosenWords, largerIsBetter, leafWords, METRICS, scoreRange, scoreWords, settingWords, trialKey, trialName } from "./words.ts";

const HEIGHT = 340;
const REACH = 30; // pixels from the pointer within which a trial is meant
const LEAF_TICKS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096];

interface Props {
  trials: Trial[];
  metric: string;
  select: Select;
  chosen: Trial | null; // by the sweep
  final: boolean; // whether the choice is made
  shown: Trial | undefined; // its tree is shown
  onShow: (trial: Trial) => void;
}

export function Scatter({ trials, metric, select, chosen, final, shown, onShow }: Props) {
  const [host, width] = useWidth();
  const [at, setAt] = useState<number | null>(null);
  const dots = useMemo(() => dotsOf(trials), [trials]);
  const front = useMemo(() => frontOf(dots, metric), [dots, metric]);
  const best = useMemo(() => bestOf(dots), [dots]);
  const frame: Frame = { left: 56, right: Math.max(120, width - 14), top: 26, bottom: HEIGHT - 42 };
  const plot = useMemo(() => placed(dots, frame), [dots, width]);
  const same = (trial: Trial | null | undefined) => (trial ? dots.findIndex((dot) => trialKey(dot.trial) === trialKey(trial)) : -1);
  const [chosenAt, shownAt] = [same(chosen), same(shown)];
  const here = at !== null && at < dots.length ? at : null;

  const nearest = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let found: number | null = null;
    let least = REACH ** 2;
    plot.spots.forEach((spot, i) => {
      const distance = (spot.x - x) ** 2 + (spot.y - y) ** 2;
      if (distance < least) [found, least] = [i, distance];
    });
    return found;
  };
  const keys = (event: KeyboardEvent) => {
    const from = here ?? (shownAt >= 0 ? shownAt : 0);
    const last = dots.length - 1;
    const onFront = (step: number) => {
      const places = front.map((dot) => dots.indexOf(dot));
      return (step > 0 ? places.find((i) => i > from) : places.findLast((i) => i < from)) ?? from;
    };
    const moves: Record<string, () => number> = {
      ArrowLeft: () => from - 1, ArrowRight: () => from + 1, ArrowUp: () => onFront(1), ArrowDown: () => onFront(-1), Home: () => 0, End: () => last,
    };
    if (event.key in moves) setAt(Math.min(last, Math.max(0, moves[event.key]())));
    else if ((event.key === "Enter" || event.key === " ") && here !== null) onShow(dots[here].trial);
    else return;
    event.preventDefault();
  };

  if (!dots.length) return <p class="quiet">The chart appears here as soon as all folds of a combination are done.</p>;
  const name = METRICS[metric].name;
  const read = dots[here ?? shownAt] as Dot | undefined;
  const mark = (i: number, kind: string, size: number) => i >= 0 && <circle class={kind} cx={plot.spots[i].x} cy={plot.spots[i].y} r={size} />;
  const band = best && select === "ONE_STANDARD_ERROR"
    ? [plot.y(best.mean), plot.y(best.mean - (largerIsBetter(metric) ? 1 : -1) * best.error)].sort((a, b) => a - b) : null;
  return (
    <figure class="chart sweep-chart">
      <figcaption class="row">
        <span class="key dot">Trial with its standard error</span>
        <span class="key front">Best for its size (Pareto front)</span>
        {band && <span class="key within">Within one standard error of the best</span>}
        {chosenAt >= 0 && <span class="key chosen">{chosenWords(final)}</span>}
      </figcaption>
      <div
        ref={host} class="scatter" tabIndex={0} role="img" aria-label={summary(dots, front, metric)} onKeyDown={keys}
        onBlur={() => setAt(null)} onMouseMove={(event) => setAt(nearest(event))} onMouseLeave={() => setAt(null)}
        onClick={(event) => {
          const found = nearest(event);
          if (found !== null) onShow(dots[found].trial);
        }}
      >
        {width > 0 && (
          <svg width={width} height={HEIGHT} aria-hidden="true">
            <LeftAxis frame={frame} ticks={plot.scores} scale={plot.y} format={(value) => scoreWords(metric, value)} name={largerIsBetter(metric) ? name : `${name} (smaller is better)`} />
            <BottomAxis frame={frame} ticks={plot.sizes} scale={plot.x} format={number} name="Leaves, mean over the folds" />
            {band && <rect class="within" x={frame.left} width={frame.right - frame.left} y={band[0]} height={Math.max(1, band[1] - band[0])} />}
            <path class="bars" d={plot.bars} />
            <path class="dots" d={plot.dots} />
            <path class="front" d={front.map((dot, i) => (i ? `H${plot.x(dot.leaves)}V${plot.y(dot.mean)}` : `M${plot.x(dot.leaves)} ${plot.y(dot.mean)}`)).join("") + (front.length ? `H${frame.right}` : "")} />
            {mark(chosenAt, "chosen", 7)}
            {shownAt !== chosenAt && mark(shownAt, "shown", 6)}
            {here !== null && mark(here, "here", 5)}
          </svg>
        )}
      </div>
      <p class="readout" role="status">
        {read
          ? `${trialName(read.trial)}: ${scoreRange(metric, read.mean, read.error)} with ${leafWords(read.leaves)}, ${settingWords(read.trial.parameters, read.trial.penalty)}`
          : ""}
      </p>
      <p class="help">Click a trial to show its tree. The arrow keys left and right move through the trials, up and down along the front, and Enter shows the tree.</p>
    </figure>
  );
}

/** Places the trials in the frame. All points are one path and all error bars another, so that thousands are drawn at once. */
function placed(dots: Dot[], frame: Frame) {
  const sizes = dots.map((dot) => dot.leaves);
  const [least, most] = [Math.min(...sizes, Infinity), Math.max(...sizes, 0)];
  const x = logarithmic(least / 1.08, Math.max(most, least * 1.5) * 1.08, frame.left, frame.right);
  let [low, high] = [Infinity, -Infinity];
  for (const { mean, error } of dots) {
    low = Math.min(low, mean - error);
    high = Math.max(high, mean + error);
  }
  const room = 0.04 * (high - low || 0.1);
  const y = linear(low - room, high + room, frame.bottom, frame.top);
  const spots = dots.map((dot) => ({ x: x(dot.leaves), y: y(dot.mean) }));
  const fixed = (value: number) => value.toFixed(1);
  const ticks = LEAF_TICKS.filter((tick) => tick >= least * 0.95 && tick <= most * 1.05);
  const sparse = ticks.length > 8 || frame.right < 420 ? ticks.filter((tick) => Number.isInteger(Math.log2(tick))) : ticks;
  return {
    x, y, spots, sizes: sparse, scores: roundTicks(low - room, high + room),
    dots: spots.map((spot) => `M${fixed(spot.x)} ${fixed(spot.y)}h0`).join(""),
    bars: dots.map((dot, i) => `M${fixed(spots[i].x)} ${fixed(y(dot.mean - dot.error))}V${fixed(y(dot.mean + dot.error))}`).join(""),
  };
}

function summary(dots: Dot[], front: Dot[], metric: string): string {
  const steps = front.map((dot) => `${leafWords(dot.leaves)} ${scoreWords(metric, dot.mean)}`).slice(0, 12).join(", ");
  return `Chart of ${METRICS[metric].name} against leaves of ${dots.length} trials. The best for their size: ${steps}. ` +
    "The table of trials has the same figures.";
}
