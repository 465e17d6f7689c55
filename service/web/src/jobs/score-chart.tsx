// The chart of how good each tree is on training rows and on held-back rows, below the chart of the bounds.
import { useRef, useState } from "preact/hooks";
import type { IncumbentScores, Metrics } from "../api/types.ts";
import { orDash } from "../format.ts";
import { Select } from "../parts/field.tsx";
import { NOTHING_HELD_BACK } from "../quality/sentences.ts";
import { dark } from "../state/appearance.ts";
import { useSignal } from "../state/signal.ts";
import { timeSpan, type TimeView } from "./axes.ts";
import { foundWords, type Improvement } from "./moments.ts";
import { type DrawnScores, plottedScores, scoreOptions } from "./score-plot.ts";
import { baselineScores, bestHeldBack, heldScore, type ScoreName, SCORES, trainScore } from "./scoring.ts";
import type { Trace } from "./trace.ts";
import { usePlot } from "./use-plot.ts";

const CHOICES = Object.fromEntries(Object.entries(SCORES).map(([name, { words }]) => [name, words])) as Record<ScoreName, string>;

interface Props {
  trace: Trace;
  points: IncumbentScores[];
  improvements: Improvement[];
  metrics: Partial<Metrics> | null; // of the job, for the baselines
  time: TimeView;
  score: ScoreName;
  onScore: (score: ScoreName) => void;
  chosen: number;
  onPick: (revision: number) => void;
}

export function ScoreChart({ trace, points, improvements, metrics, time, score, onScore, chosen, onPick }: Props) {
  const [withMajority, setWithMajority] = useState(false);
  const isDark = useSignal(dark);
  const baselines = baselineScores(metrics, score);
  const majority = withMajority ? baselines.majority : null;
  const best = bestHeldBack(points, score);
  const current = useRef<DrawnScores>(null!);
  current.current = { trace, points, improvements, score, cart: baselines.cart, majority, time, chosen, best: best?.revision, onPick };
  const shares = trace.hasShares;
  const { host } = usePlot(
    {
      options: (width) => scoreOptions(width, current), data: () => plottedScores(current.current),
      span: () => timeSpan(trace, improvements, time),
    },
    [score, time.logTime, isDark, shares],
    [trace, trace.length, trace.seconds[trace.length - 1], improvements, baselines.cart, majority, chosen, time.zoom],
  );
  const held = best !== undefined;
  const place = points.findIndex((point) => point.revision === chosen);
  const { text, words, lowIsGood } = SCORES[score];
  const keys: Record<string, number> = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: points.length - 1 };
  return (
    <figure class="chart scores">
      <figcaption class="row">
        {held && <span class="key held">Held-back rows</span>}
        <span class="key lower">Training rows</span>
        {baselines.cart !== null && <span class="key cart">CART{held ? ", held-back rows" : ""}</span>}
        {majority !== null && <span class="key majority">Most frequent class</span>}
        {held && <span class="key best">Best on held-back rows</span>}
        <span class="row push">
          {baselines.majority !== null && (
            <label><input type="checkbox" checked={withMajority} onChange={(event) => setWithMajority(event.currentTarget.checked)} /> Most frequent class</label>
          )}
          <Select value={score} choices={CHOICES} onValue={onScore} aria-label="Score" />
        </span>
      </figcaption>
      <div
        ref={host} class="plot score-plot" tabIndex={0} role="img" aria-label={summary(points, best, score)}
        onKeyDown={(event) => {
          const next = points[keys[event.key]];
          if (!(event.key in keys)) return;
          event.preventDefault();
          if (next) onPick(next.revision);
        }}
      />
      {place >= 0 && (
        <dl class="readout score-readout">
          <div><dt>Tree</dt><dd>{chosen}</dd></div>
          {improvements[place]?.seconds != null && <div><dt>After</dt><dd>{foundWords(improvements[place].seconds)}</dd></div>}
          {held && <div><dt>Held-back</dt><dd class="upper">{orDash(heldScore(points[place], score), text)}</dd></div>}
          <div><dt>Training</dt><dd>{orDash(trainScore(points[place], score), text)}</dd></div>
          {baselines.cart !== null && <div><dt>CART</dt><dd>{text(baselines.cart)}</dd></div>}
          {baselines.majority !== null && <div><dt>Most frequent class</dt><dd>{text(baselines.majority)}</dd></div>}
        </dl>
      )}
      {held
        ? (
          <p class="row best-tree">
            <span>Best {words.toLowerCase()} on held-back rows: tree {best.revision} with {text(heldScore(best, score)!)}.</span>
            {best.revision !== chosen && <button type="button" class="small" onClick={() => onPick(best.revision)}>Show tree {best.revision}</button>}
          </p>
        )
        : <p>{NOTHING_HELD_BACK}.</p>}
      <p class="help">
        {lowIsGood ? "Lower is better. " : ""}{held && "A tree that is chosen by its score on these rows looks better on them than it is on new rows. "}
        Click a mark, or use the arrow keys, to show its tree.
      </p>
    </figure>
  );
}

function summary(points: IncumbentScores[], best: IncumbentScores | undefined, score: ScoreName): string {
  const { words, text } = SCORES[score];
  const last = points.at(-1);
  if (!last) return `Chart of the ${words.toLowerCase()}. There are no trees yet.`;
  const training = trainScore(last, score);
  const now = training === null ? "" : ` On training rows, the last tree has ${text(training)}.`;
  const held = best ? ` On held-back rows, tree ${best.revision} is the best with ${text(heldScore(best, score)!)}.` : "";
  return `Chart of the ${words.toLowerCase()} of ${points.length} trees.${now}${held} The left and right arrow keys choose a tree.`;
}
