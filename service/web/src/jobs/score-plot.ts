// Draws the scores of the trees of a job over search time.
import uPlot from "uplot";
import type { IncumbentScores } from "../api/types.ts";
import { colour } from "../state/appearance.ts";
import {
  drawMarks, earliest, leftAxis, type Mark, markAt, rightAxis, sharedCursor, timeAxis, timeScale, type TimeView, zoomHooks,
} from "./axes.ts";
import type { Improvement } from "./moments.ts";
import { heldScore, type ScoreName, SCORES, trainScore } from "./scoring.ts";
import type { Trace } from "./trace.ts";

const HEIGHT = 210;

export interface DrawnScores {
  trace: Trace;
  points: IncumbentScores[];
  improvements: Improvement[]; // of the same trees
  score: ScoreName;
  cart: number | null;
  majority: number | null; // null does not draw it
  time: TimeView;
  chosen: number;
  best: number | undefined; // the best tree on held-back rows
  onPick: (revision: number) => void;
}

export interface CurrentScores { current: DrawnScores }

/** Returns the trees whose time is known, with their scores. */
function known({ points, improvements, score, time, trace }: DrawnScores) {
  const first = time.logTime ? earliest(trace) : 0;
  return points.flatMap((point, i) => {
    const seconds = improvements[i]?.seconds ?? null;
    if (seconds === null) return [];
    return [{ revision: point.revision, seconds: Math.max(first, seconds), train: trainScore(point, score), held: heldScore(point, score) }];
  });
}

/** The lines go on to the end of the trace. */
export function plottedScores(drawn: DrawnScores): uPlot.AlignedData {
  const trees = known(drawn);
  const last = trees.at(-1);
  if (!last) return [[], [], [], [], []];
  const end = drawn.trace.seconds[drawn.trace.length - 1] ?? last.seconds;
  if (end > last.seconds) trees.push({ ...last, seconds: end });
  const start = drawn.trace.seconds[0] ?? 0;
  // Baselines are known from the beginning.
  const level = (value: number | null) => [value, ...trees.map(() => value)];
  const from = Math.min(trees[0].seconds, drawn.time.logTime ? earliest(drawn.trace) : start);
  return [
    [from, ...trees.map((tree) => tree.seconds)], [null, ...trees.map((tree) => tree.train)], [null, ...trees.map((tree) => tree.held)],
    level(drawn.cart), level(drawn.majority),
  ] as uPlot.AlignedData;
}

function marks(plot: uPlot, drawn: DrawnScores, canvas: boolean): Mark[] {
  return known(drawn).flatMap(({ revision, seconds, train, held }) => {
    const score = held ?? train;
    return score === null ? [] : [{ revision, x: plot.valToPos(seconds, "x", canvas), y: plot.valToPos(score, "y", canvas) }];
  });
}

/** Leaves room for the marks, but shows no share above 100 %. */
function range(drawn: DrawnScores, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const room = Math.max(0.1 * (high - low), 0.02);
  const { lowIsGood } = SCORES[drawn.score];
  return [Math.max(0, low - room), lowIsGood ? high + room : Math.min(1 + room / 2, high + room)];
}

export function scoreOptions(width: number, current: CurrentScores): uPlot.Options {
  const { score, time, trace } = current.current;
  const stepped = uPlot.paths.stepped!({ align: 1 });
  const line = (name: string, tint: string, thick: number, dash?: number[]): uPlot.Series =>
    ({ label: name, stroke: colour(tint), width: thick, dash, paths: stepped, points: { show: false } });
  const zoom = zoomHooks(() => current.current.time);
  const { text, lowIsGood } = SCORES[score];
  return {
    width: width || 600,
    height: HEIGHT,
    legend: { show: false },
    cursor: sharedCursor(time),
    scales: { x: timeScale(time.logTime), y: { range: (_, low, high) => range(current.current, low, high) } },
    series: [
      {}, line("Training rows", "text", 1.5), line("Held-back rows", "accent", 2),
      line("CART", "warn", 1.5, [6, 4]), line("Most frequent class", "quiet", 1.5, [2, 3]),
    ],
    axes: [
      timeAxis(time.logTime),
      leftAxis({ values: (_, splits) => splits.map((x) => (!lowIsGood && x > 1 ? "" : lowIsGood ? String(Number(x.toFixed(6))) : text(x))) }),
      rightAxis(trace.hasShares, { scale: "y", ticks: { show: false }, values: () => [] }),
    ],
    hooks: {
      ...zoom,
      draw: [(plot) => drawMarks(plot, marks(plot, current.current, true), "accent", current.current.chosen, current.current.best)],
      ready: [...zoom.ready!, (plot) => plot.over.addEventListener("click", (event) => {
        const revision = markAt(marks(plot, current.current, false), event);
        if (revision !== undefined) current.current.onPick(revision);
      })],
    },
  };
}
