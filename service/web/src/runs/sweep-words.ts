// The states of sweeps in words.
import type { Metric, SweepState, SweepStopReason, SweepSummary } from "../api/types.ts";

const STATES: Record<SweepState, string> = {
  QUEUED: "Waiting for a worker",
  RUNNING: "Trying",
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
  COMPLETE: "All tried",
  TIME_LIMIT: "Time limit reached",
  NO_IMPROVEMENT: "No better trial for a while",
  FAILED_TRIALS: "Too many failures",
  USER_FINISH: "Finished by you",
  USER_CANCEL: "Cancelled",
};

export const METRICS: Record<Metric, string> = {
  accuracy: "Accuracy", balanced_accuracy: "Balanced accuracy", log_loss: "Log loss", macro_f1: "Macro F1", roc_auc: "ROC AUC",
};

export const LIVE_SWEEPS: SweepState[] = ["QUEUED", "RUNNING", "PAUSING", "PAUSED", "CHOOSING", "REFITTING", "STOPPING"];

export function sweepState({ state, stop_reason: reason }: Pick<SweepSummary, "state" | "stop_reason">): { code: string; words: string } {
  return state === "SUCCEEDED" && reason ? { code: reason, words: REASONS[reason] } : { code: state, words: STATES[state] };
}

export function sweepTone(state: SweepState): string {
  return { FAILED: "bad", SUCCEEDED: "good", CANCELLED: "rest", PAUSED: "rest" }[state as string] ?? "live";
}
