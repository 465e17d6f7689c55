// Sweeps in words: states, metrics, parameters and scores.
import type { Sweep, SweepState, SweepStopReason, SweepSummary, Trial, TrialState } from "../api/types.ts";
import { count, number, percent } from "../format.ts";
import { sayParameter } from "../parameters.ts";

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

/** The name of a metric within a sentence: "macro F1". */
export function metricWords(metric: string): string {
  const { name } = METRICS[metric];
  return name.charAt(0).toLowerCase() + name.slice(1);
}

export const SELECTS: Record<string, Meaning> = {
  ONE_STANDARD_ERROR: {
    name: "The smallest good tree",
    about: "The smallest tree whose mean score is within one standard error of the best mean. Smaller differences may be chance.",
  },
  BEST: { name: "The best score", about: "The tree with the best mean score, whatever its size." },
};

/** Whether a score is a share, which is shown in percent; the log loss has no upper end. */
const isShare = (metric: string) => metric !== "log_loss";

/** Formats a score of a metric. */
export function scoreWords(metric: string, value: number): string {
  return isShare(metric) ? percent(value) : value.toFixed(3);
}

export function errorWords(metric: string, error: number): string {
  return isShare(metric) ? percent(error, 2) : error.toFixed(4);
}

/** "76.9 % ± 0.7", or "0.512 ± 0.010". */
export function scoreRange(metric: string, mean: number, error: number | null): string {
  if (error === null) return scoreWords(metric, mean);
  return `${scoreWords(metric, mean)} ± ${isShare(metric) ? (100 * error).toFixed(1) : error.toFixed(3)}`;
}

/** Formats a mean number of leaves or cuts. */
export const meanCount = (value: number) => number(Number(value.toFixed(1)));

export const leafWords = (value: number) => `${meanCount(value)} ${value === 1 ? "leaf" : "leaves"}`;

/** Whether a larger score is better. */
export const largerIsBetter = (metric: string) => metric !== "log_loss";

/** "depth 4, 2 change points, penalty 8.292". */
export function settingWords(parameters: Record<string, unknown>, penalty?: number | null): string {
  const words = Object.entries(parameters).map(([key, value]) => sayParameter(key, value));
  if (penalty != null && !("split_penalty" in parameters)) words.push(sayParameter("split_penalty", penalty));
  return words.join(", ") || "the only setting";
}

/** About the trial that the sweep takes, before and after the choice is `final`. */
export const chosenWords = (final: boolean) => (final ? "Chosen" : "Would be chosen now");

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
