// The scores of the trees of a job that can be compared over time.
import type { IncumbentScores, Metrics } from "../api/types.ts";
import { percent } from "../format.ts";

export type ScoreName = "accuracy" | "balanced_accuracy" | "log_loss";

interface Score { words: string; lowIsGood: boolean; text: (value: number) => string }

export const SCORES: Record<ScoreName, Score> = {
  accuracy: { words: "Accuracy", lowIsGood: false, text: (value) => percent(value) },
  balanced_accuracy: { words: "Balanced accuracy", lowIsGood: false, text: (value) => percent(value) },
  log_loss: { words: "Log loss", lowIsGood: true, text: (value) => value.toFixed(3) },
};

export function isScore(name: string | null): name is ScoreName {
  return name !== null && name in SCORES;
}

export const trainScore = (point: IncumbentScores, name: ScoreName): number | null => point[`train_${name}`] ?? null;
export const heldScore = (point: IncumbentScores, name: ScoreName): number | null => point[`validation_${name}`] ?? null;

/** Returns the tree with the best score on the held-back rows, the earliest of equal ones. */
export function bestHeldBack(points: IncumbentScores[], name: ScoreName): IncumbentScores | undefined {
  const sign = SCORES[name].lowIsGood ? -1 : 1;
  let best: IncumbentScores | undefined;
  let most = -Infinity;
  for (const point of points) {
    const score = heldScore(point, name);
    if (score === null || sign * score <= most) continue;
    most = sign * score;
    best = point;
  }
  return best;
}

/** Returns the scores of CART and of the most frequent class, on held-back rows if there are any. */
export function baselineScores(metrics: Partial<Metrics> | null, name: ScoreName): { cart: number | null; majority: number | null } {
  const { cart, majority } = metrics?.baselines ?? {};
  const of = (scores: typeof cart) => (scores?.validation ?? scores?.train)?.[name] ?? null;
  return { cart: of(cart), majority: of(majority) };
}
