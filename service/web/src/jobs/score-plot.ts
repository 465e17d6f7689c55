// Draws the scores of the trees of a job over search time.
import uPlot from "uplot";
import type { IncumbentScores } from "../api/types.ts";
import { number } from "../format.ts";
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

interface CurrentScores { current: DrawnScores }

/** Returns the trees whose time is known, with their scores. */
function known({ points, improvements, score, time, trace }: DrawnScores) {
  const first = time.logTime ? earliest(trace, improvements) : 0;
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
  const level = (value: number | null) => trees.map(() => value);
  return [
    trees.map((tree) => tree.seconds), trees.map((tree) => tree.train), trees.map((tree) => tree.held), level(drawn.cart), level(drawn.majority),
  ] as uPlot.AlignedData;
}

function marks(plot: uPlot, drawn: DrawnScores, canvas: boolean): Mark[] {
  return known(drawn).flatMap(({ revision, seconds, train, held }) => {
    const score = held ?? train;
    return score === null ? [] : [{ revision, x: plot.valToPos(seconds, "x", canvas), y: plot.valToPos(score, "y", canvas) }];
  });
}

/** Shows all scores, also those before and after the visible span of time, and leaves room for the marks. */
function range(drawn: DrawnScores): [number, number] {
  const all = [...known(drawn).flatMap(({ train, held }) => [train, held]), drawn.cart, drawn.majority].filter((x) => x !== null);
  if (!all.length) return [0, 1];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const room = Math.max(0.1 * (high - low), 0.02);
  return [Math.max(-room / 2, low - room), SCORES[drawn.score].lowIsGood ? high + room : Math.min(1 + room / 2, high + room)];
}

export function scoreOptions(width: number, current: CurrentScores): uPlot.Options {
  const { score, time, trace } = current.current;
  const stepped = uPlot.paths.stepped!({ align: 1 });
  const line = (name: string, tint: string, thick: number, dash?: number[]): uPlot.Series =>
    ({ label: name, stroke: colour(tint), width: thick, dash, paths: stepped, points: { show: false } });
  const zoom = zoomHooks(() => current.current.time);
  const { lowIsGood } = SCORES[score];
  const tick = (x: number) => (x < 0 || (x > 1 && !lowIsGood) ? "" : lowIsGood ? number(x) : `${number(Number((100 * x).toFixed(6)))} %`);
  return {
    width: width || 600,
    height: HEIGHT,
    legend: { show: false },
    cursor: sharedCursor(time),
    scales: { x: timeScale(time.logTime), y: { range: () => range(current.current) } },
    series: [
      {}, line("Training rows", "text", 1.5), line("Held-back rows", "accent", 2),
      line("CART", "warn", 1.5, [6, 4]), line("Most frequent class", "quiet", 1.5, [2, 3]),
    ],
    axes: [
      timeAxis(time.logTime),
      leftAxis({ values: (_, splits) => splits.map((x) => tick(Number(x.toFixed(9)))) }),
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
