// Job states, stop reasons and search spaces in words.
import type { JobState, JobSummary, StopReason } from "./api/types.ts";
import { type Given, parameterWords } from "./parameters.ts";

const STATES: Record<JobState, string> = {
  QUEUED: "Waiting for a worker",
  STARTING: "Reading the data",
  RUNNING: "Searching",
  PAUSING: "Pausing",
  PAUSED: "Paused",
  STOPPING: "Stopping",
  SUCCEEDED: "Done",
  CANCELLED: "Cancelled",
  FAILED: "Failed",
};

export const REASONS: Record<StopReason, string> = {
  PROVEN_OPTIMAL: "Proven optimal",
  GAP_REACHED: "Gap reached",
  TIME_LIMIT: "Time limit reached",
  EXPANSION_LIMIT: "Expansion limit reached",
  MEMORY_LIMIT: "Memory limit reached",
  NO_IMPROVEMENT: "No better tree for a while",
  USER_FINISH: "Finished by you",
  USER_CANCEL: "Cancelled",
  WORKER_LOST: "Workers were lost",
  ERROR: "Failed",
};

const SPACES: Record<string, string> = {
  adaptive: "the cuts that small trees on each set of rows propose",
  shape: "the cuts that small trees on each set of rows propose, for all features together and for each feature alone",
  quantile: "a grid of quantiles of each feature",
  all: "every cut of every feature",
};

/** The sentence of `literati.tree.nodes.BEYOND_SPACE`; a test compares the two. */
export const BEYOND_SPACE =
  "This tree was improved beyond the searched space, so it costs less than the upper bound; both bounds are only about trees of that space.";

export function stateWords(job: Pick<JobSummary, "state" | "stop_reason">): string {
  return job.state === "SUCCEEDED" && job.stop_reason ? REASONS[job.stop_reason] : STATES[job.state];
}

/** Describes a search space such as "adaptive", or "adaptive 17" for trees of at most 17 leaves. */
export function spaceWords(space: string): string {
  const [mode, leaves] = space.split(" ");
  const words = SPACES[mode] ?? space;
  return leaves ? words.replace("small trees", `trees of at most ${leaves} leaves`) : words;
}

const TONES: Partial<Record<JobState, string>> = { FAILED: "bad", SUCCEEDED: "rest", CANCELLED: "rest", PAUSED: "rest" };

/** Returns the colour class of a job's state. Only a proof is good; a limit that was reached is neither good nor bad. */
export function tone({ state, stop_reason: reason }: Pick<JobSummary, "state" | "stop_reason">): string {
  return state === "SUCCEEDED" && reason === "PROVEN_OPTIMAL" ? "good" : TONES[state] ?? "live";
}

export function ended(state: JobState): boolean {
  return state === "SUCCEEDED" || state === "CANCELLED" || state === "FAILED";
}

interface Titled { id: string; name: string | null; parameters?: Given; n_folds?: number; sweep_id?: string | null }

/**
 * Returns the name of a record. A run without one is described by its dataset, if that is known, and its parameters, and the
 * first characters of its id, so that no two are alike. So are the jobs of a sweep, which all have the name of the sweep.
 */
export function title({ id, name, parameters, n_folds: folds, sweep_id: sweep }: Titled, dataset?: string): string {
  if (name && !sweep) return name;
  const start = id.indexOf("_") + 1;
  const about = [name ?? dataset, parameters && parameterWords(parameters), folds && `sweep of ${folds} folds`].filter(Boolean);
  return about.length ? `${about.join(", ")} (${id.slice(start, start + 6)})` : id.slice(0, start + 6);
}
