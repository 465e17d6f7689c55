// When the tree improved, in search seconds, and the cost of the best tree over time.
import type { Incumbent, IncumbentScores } from "../api/types.ts";
import { seconds } from "../format.ts";
import type { Trace } from "./trace.ts";

/** A better tree, with the bounds of the moment at which it was found. */
export interface Improvement {
  revision: number;
  seconds: number | null;
  objective: number;
  lower: number | null;
  explored: number | null;
}

/** The time at which a tree was found, in the same words everywhere. */
export function foundWords(found: number): string {
  return seconds(Math.max(1e-6, found)); // a search begins with a tree
}

/** Returns when a tree of the job was found, as in the charts. */
export function foundAt(improvements: Improvement[], { revision, found_seconds: found }: Pick<Incumbent, "revision" | "found_seconds">): number | null {
  return improvements.find((entry) => entry.revision === revision)?.seconds ?? found;
}

/** Trees of version 0.1.0 have no time of their own; they are as old as the upper bound that they gave. */
function momentOf({ found_seconds: found, objective }: IncumbentScores, trace: Trace): number | null {
  return found ?? trace.reached(objective) ?? null;
}

export function improvementsOf(scores: IncumbentScores[], trace: Trace): Improvement[] {
  return scores.map((point) => {
    const found = momentOf(point, trace);
    const at = found === null ? -1 : Math.min(trace.length - 1, Math.max(0, trace.at(found)));
    const { revision, objective } = point;
    return { revision, objective, seconds: found, lower: trace.lower[at] ?? null, explored: trace.explored[at] ?? null };
  });
}

/** Returns the index after the last point of the trace at which the tree was the best one. */
function endOf(trace: Trace, improvements: Improvement[], index: number): number {
  const next = improvements[index + 1]?.seconds ?? null;
  return next === null ? trace.length : trace.from(next);
}

/** Returns whether a tree was improved beyond the search space, which the bounds do not cover. */
export function polished(trace: Trace, improvements: Improvement[]): boolean {
  return improvements.some(({ seconds: found, objective }, i) =>
    found !== null && objective < trace.upper[Math.max(trace.at(found), endOf(trace, improvements, i) - 1, 0)]);
}

/** Returns the cost of the best tree at each point of the trace; empty if it is never below the upper bound. */
export function costs(trace: Trace, improvements: Improvement[]): (number | null)[] {
  const line = new Array<number | null>(trace.length).fill(null);
  if (!polished(trace, improvements)) return line;
  improvements.forEach(({ seconds: found, objective }, i) => {
    if (found === null) return;
    const end = endOf(trace, improvements, i);
    for (let at = Math.max(0, trace.at(found)); at < end; at += 1) line[at] = Math.min(objective, trace.upper[at]);
  });
  return line;
}
