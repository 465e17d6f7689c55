// Job states and stop reasons in words.
import type { Job, JobState, StopReason } from "./api/types.ts";

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

const REASONS: Record<StopReason, string> = {
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
  shape: "those cuts, and each feature's own best ones",
  quantile: "a grid of quantiles of each feature",
  all: "every cut of every feature",
};

/** The sentence of `literati.tree.nodes.BEYOND_SPACE`; a test compares the two. */
export const BEYOND_SPACE =
  "This tree was improved beyond the searched space, so it costs less than the upper bound; both bounds are only about trees of that space.";

export function stateWords(job: Pick<Job, "state" | "stop_reason">): string {
  return job.state === "SUCCEEDED" && job.stop_reason ? REASONS[job.stop_reason] : STATES[job.state];
}

export function reasonWords(reason: StopReason): string {
  return REASONS[reason];
}

export function spaceWords(space: string): string {
  return SPACES[space] ?? space;
}

/** Returns the colour class of a state. */
export function tone(job: Pick<Job, "state" | "stop_reason">): "live" | "good" | "bad" | "rest" {
  if (job.state === "FAILED") return "bad";
  if (job.state === "SUCCEEDED") return "good";
  if (job.state === "CANCELLED" || job.state === "PAUSED") return "rest";
  return "live";
}

export function ended(state: JobState): boolean {
  return state === "SUCCEEDED" || state === "CANCELLED" || state === "FAILED";
}

export function shortId(id: string): string {
  return id.slice(0, id.indexOf("_") + 7);
}

export function title(entry: { id: string; name: string | null }): string {
  return entry.name || shortId(entry.id);
}
