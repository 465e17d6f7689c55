// The times at which the tree improved, and the cost of the best tree over time.
import type { Trace } from "./trace.ts";

/** The time at which a better tree was found. */
export interface Improvement {
  revision: number;
  seconds: number | null;
  objective: number;
  upper: number;
  lower: number;
  explored: number | null;
}

/** Returns the time from the trace, which is more precise than the event if the bound fell with the tree. */
export function momentOf(trace: Trace, improvements: Improvement[], index: number): number | null {
  const entry = improvements[index];
  const fell = index === 0 || entry.upper < improvements[index - 1].upper;
  const reached = fell ? trace.reached(entry.upper) : undefined;
  return reached === undefined || entry.seconds === null ? entry.seconds : Math.min(reached, entry.seconds);
}

/** Returns whether a tree was improved beyond the search space, which the bounds do not cover. */
export function polished(improvements: Improvement[]): boolean {
  return improvements.some((entry) => entry.objective < entry.upper);
}

/** Returns the cost of the best tree at each point of the trace; empty if it is never below the upper bound. */
export function costs(trace: Trace, improvements: Improvement[]): (number | null)[] {
  const line = new Array<number | null>(trace.length).fill(null);
  if (!polished(improvements)) return line;
  improvements.forEach((entry, i) => {
    const moment = momentOf(trace, improvements, i);
    if (moment === null) return;
    const next = i + 1 < improvements.length ? momentOf(trace, improvements, i + 1) : null;
    const end = next === null ? trace.length : trace.at(next);
    for (let at = Math.max(0, trace.at(moment)); at < end; at += 1) line[at] = Math.min(entry.objective, trace.upper[at]);
  });
  return line;
}
