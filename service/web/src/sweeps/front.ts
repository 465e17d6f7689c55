// Which trials are best for their size.
import type { Trial } from "../api/types.ts";
import { largerIsBetter } from "./words.ts";

/** A complete trial as a point. */
export interface Dot { trial: Trial; leaves: number; mean: number; error: number }

/** Returns the complete trials by leaves, then score. */
export function dotsOf(trials: Trial[]): Dot[] {
  const dots: Dot[] = [];
  for (const trial of trials) {
    if (trial.state === "SUCCEEDED" && trial.mean != null && trial.leaves != null) {
      dots.push({ trial, leaves: trial.leaves, mean: trial.mean, error: trial.standard_error ?? 0 });
    }
  }
  return dots.sort((a, b) => a.leaves - b.leaves || a.mean - b.mean);
}

/** Returns the trials of which no other is as small and better, by leaves (the Pareto front). */
export function frontOf(dots: Dot[], metric: string): Dot[] {
  const sign = largerIsBetter(metric) ? 1 : -1;
  const front: Dot[] = [];
  for (const dot of dots) {
    const last = front.at(-1);
    if (last && sign * dot.mean <= sign * last.mean) continue;
    if (last?.leaves === dot.leaves) front.pop();
    front.push(dot);
  }
  return front;
}

/** Returns the trial with the best mean, and of equal ones the smallest. */
export function bestOf(dots: Dot[]): Dot | undefined {
  return dots.filter((dot) => dot.trial.rank === 1)
    .sort((a, b) => a.leaves - b.leaves || (a.trial.changepoints ?? 0) - (b.trial.changepoints ?? 0))[0];
}
