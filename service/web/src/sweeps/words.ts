// Sweeps in words: states, metrics, parameters and scores.
import type { Sweep, SweepState, SweepStopReason, SweepSummary, Trial, TrialState } from "../api/types.ts";
import { count, number, percent } from "../format.ts";

const STATES: Record<SweepState, string> = {
  QUEUED: "Waiting for a worker",
  RUNNING: "Trying parameters",
  PAUSING: "Pausing",
  PAUSED: "Paused",
  CHOOSING: "Choosing",
  REFITTING: "Fitting the choice to all rows",
  STOPPING: "Stopping",
  SUCCEEDED: "Done",
  CANCELLED: "Cancelled",
  FAILED: "Failed",
};

const REASONS: Record<SweepStopReason, string> = {
  COMPLETE: "Everything tried",
  TIME_LIMIT: "Time limit reached",
  NO_IMPROVEMENT: "No better tree for a while",
  FAILED_TRIALS: "Too many failed",
  USER_FINISH: "Finished by you",
  USER_CANCEL: "Cancelled",
};

export const TRIAL_STATES: Record<TrialState, string> = {
  QUEUED: "waiting",
  RUNNING: "running",
  SUCCEEDED: "complete",
  PRUNED: "stopped early",
  FAILED: "failed",
  CANCELLED: "not completed",
};

type Stated = Pick<SweepSummary, "state" | "stop_reason">;

export const LIVE_SWEEPS: SweepState[] = ["QUEUED", "RUNNING", "PAUSING", "PAUSED", "CHOOSING", "REFITTING", "STOPPING"];

export function sweepEnded(state: SweepState): boolean {
  return !LIVE_SWEEPS.includes(state);
}

export function sweepWords({ state, stop_reason: reason }: Stated): string {
  return state === "SUCCEEDED" && reason ? REASONS[reason] : STATES[state];
}

/** The colour class of a badge. Only a sweep that has tried everything is "good". */
export function sweepTone({ state, stop_reason: reason }: Stated): string {
  if (state === "FAILED") return "bad";
  if (state === "SUCCEEDED") return reason === "COMPLETE" ? "good" : "rest";
  return state === "CANCELLED" || state === "PAUSED" ? "rest" : "live";
}

interface Meaning { name: string; about: string }

export const METRICS: Record<string, Meaning> = {
  accuracy: { name: "Accuracy", about: "The share of rows that are right, on rows that the tree has not seen." },
  balanced_accuracy: { name: "Balanced accuracy", about: "The share of each class that is right, averaged, so that rare classes count as much as frequent ones." },
  log_loss: { name: "Log loss", about: "How good the probabilities are, on rows that the tree has not seen. Smaller is better." },
  macro_f1: { name: "Macro F1", about: "Precision and recall of each class in one number, averaged over the classes." },
  roc_auc: { name: "Area under the ROC curve", about: "How well the probabilities rank rows of two classes." },
};

export const SELECTS: Record<string, Meaning> = {
  ONE_STANDARD_ERROR: {
    name: "The smallest good tree",
    about: "The smallest tree whose mean score is within one standard error of the best mean. Smaller differences may be chance.",
  },
  BEST: { name: "The best score", about: "The tree with the best mean score, whatever its size." },
};

/** Formats a score of a metric. */
export function scoreWords(metric: string, value: number): string {
  return metric === "accuracy" || metric === "balanced_accuracy" ? percent(value) : value.toFixed(3);
}

/** "76.9 % ± 0.7", or "0.512 ± 0.010". */
export function scoreRange(metric: string, mean: number, error: number | null): string {
  if (error === null) return scoreWords(metric, mean);
  const isShare = metric === "accuracy" || metric === "balanced_accuracy";
  return `${scoreWords(metric, mean)} ± ${isShare ? (100 * error).toFixed(1) : error.toFixed(3)}`;
}

/** Formats a mean number of leaves or cuts. */
export const meanCount = (value: number) => number(Number(value.toFixed(1)));

export const leafWords = (value: number) => `${meanCount(value)} ${value === 1 ? "leaf" : "leaves"}`;

/** Whether a larger score is better. */
export const largerIsBetter = (metric: string) => metric !== "log_loss";

/** The names of parameters as columns, and in a sentence. */
const PARAMETERS: Record<string, { name: string; say: (value: string) => string }> = {
  max_depth: { name: "Depth", say: (value) => `depth ${value}` },
  max_changepoints: { name: "Change points", say: (value) => (value === "1" ? "1 change point" : `${value} change points`) },
  split_penalty: { name: "Penalty per split", say: (value) => `penalty ${value}` },
  changepoint_penalty: { name: "Penalty per further cut", say: (value) => `cut penalty ${value}` },
  min_samples_leaf: { name: "Rows per interval", say: (value) => `${value} rows per interval` },
  probability_smoothing: { name: "Smoothing", say: (value) => `smoothing ${value}` },
  candidates: { name: "Where cuts may lie", say: (value) => `${value} cuts` },
  candidate_leaves: { name: "Proposed cuts", say: (value) => `${value} proposed cuts` },
  criterion: { name: "Criterion", say: (value) => value },
  class_weight: { name: "Class weights", say: (value) => (value === "balanced" ? "balanced classes" : "classes not balanced") },
  categories: { name: "Categories", say: (value) => `${value} categories` },
};

export const parameterName = (key: string) => PARAMETERS[key]?.name ?? key;

/** Returns a value of a parameter as text. */
export function parameterText(value: unknown): string {
  return typeof value === "number" ? number(value) : value == null ? "none" : String(value).replaceAll("_", "-");
}

/** "depth 4, 2 change points, penalty 8.292". */
export function settingWords(parameters: Record<string, unknown>, penalty?: number | null): string {
  const words = Object.entries(parameters).map(([key, value]) => PARAMETERS[key]?.say(parameterText(value)) ?? `${key} ${parameterText(value)}`);
  if (penalty != null && !("split_penalty" in parameters)) words.push(`penalty ${number(penalty)}`);
  return words.join(", ") || "the only setting";
}

/** A name of a trial that does not change while a sweep runs, unlike its number. */
export function trialKey(trial: Pick<Trial, "setting" | "penalty_range">): string {
  return trial.penalty_range ? `${trial.setting}-${trial.penalty_range.low}` : String(trial.setting);
}

/** "Trial 12", or before it has a number what it tries. */
export const trialName = (trial: Trial) => (trial.number === null ? `Setting ${trial.setting}` : `Trial ${trial.number}`);

export function progressWords({ progress }: Pick<Sweep, "progress">): string {
  const { done, jobs, running, queued, failed } = progress;
  const others = jobs - done - running - queued - failed; // of combinations that were given up
  return [
    `${count(done)} of ${count(jobs)} jobs done`, running && `${count(running)} running`, queued && `${count(queued)} waiting`,
    failed && `${count(failed)} failed`, others > 0 && `${count(others)} left out`,
  ].filter(Boolean).join(", ");
}
