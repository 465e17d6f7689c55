// Says what the form would start, from the server's answer to a check.
import type { ComponentChildren } from "preact";
import type { Job, Sweep } from "../api/types.ts";
import { count, counted, lasting } from "../format.ts";
import type { Checked } from "./check.ts";

const isSweep = (answer: Job | Sweep): answer is Sweep => "n_folds" in answer;

export function Plan({ checked, current }: { checked: Checked | undefined; current: string }) {
  const answer = checked?.answer;
  if (!answer || checked.text !== current || !isSweep(answer)) return <p class="plan quiet" role="status" />;
  return <p class="plan" role="status">{sweepWords(answer)}</p>;
}

/** Says how many jobs a sweep has and how long it may take, as far as that is known. */
function sweepWords({ progress, n_folds: folds, limits, trial_limits: trial, space, refit, strategy }: Sweep): ComponentChildren {
  const every = space.split_penalty === "path" ? ", with every penalty" : "";
  const each = trial.time_limit === null ? "without a time limit" : `of at most ${lasting(trial.time_limit)} each`;
  const most = trial.time_limit === null ? Infinity : progress.jobs * trial.time_limit;
  const end = limits.time_limit !== null && limits.time_limit < most
    ? `After ${lasting(limits.time_limit)} no more are tried, and the choice is made among those that are complete.`
    : most < Infinity ? `One worker needs at most ${lasting(most)} for them; several share them.` : "There is no time limit for all of them.";
  return (
    <>
      <strong>{counted(progress.settings, "combination")} × {folds} folds = {counted(progress.jobs, "job")}</strong> {each}{every}. {end}
      {refit && trial.time_limit !== null && ` Finally, the chosen parameters are fitted to all rows, which takes at most ${lasting(trial.time_limit)} more.`}
      {progress.settings === limits.max_trials && strategy === "GRID" && ` At most ${count(limits.max_trials)} combinations are tried, small trees first.`}
    </>
  );
}
