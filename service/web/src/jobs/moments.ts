// The moments at which the tree improved, and what the best tree cost from one to the next.
import type { Trace } from "./trace.ts";

/** A moment at which a better tree was found. */
export interface Improvement { revision: number; seconds: number | null; objective: number; upper: number; lower: number }

/** The trace knows the moment better than the event that told of it, if the bound fell with the tree. */
export function momentOf(trace: Trace, improvements: Improvement[], index: number): number | null {
  const entry = improvements[index];
  const fell = index === 0 || entry.upper < improvements[index - 1].upper;
  const reached = fell ? trace.reached(entry.upper) : -1;
  return reached < 0 || entry.seconds === null ? entry.seconds : Math.min(reached, entry.seconds);
}

/** Whether a tree was made better than the search knows: the bounds speak of the searched cuts only. */
export function polished(improvements: Improvement[]): boolean {
  return improvements.some((entry) => entry.objective < entry.upper);
}

/** The cost of the best tree at each point of the trace, which is never above the upper bound; empty if it never is below. */
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
