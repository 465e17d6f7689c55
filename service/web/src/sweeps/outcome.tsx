// Says how a sweep ended when it has no model, and what can be done.
import type { Sweep, Trial } from "../api/types.ts";
import { lasting } from "../format.ts";
import { Icon } from "../parts/icons.tsx";
import { sweepEnded } from "./words.ts";

export function Outcome({ sweep, trials }: { sweep: Sweep; trials: Trial[] }) {
  const complete = trials.filter((trial) => trial.state === "SUCCEEDED").length;
  if (sweep.state === "FAILED") return <Notice tone="bad" title="This sweep failed" texts={failure(sweep, complete, trials)} />;
  if (sweep.state === "CANCELLED") {
    const kept = complete ? "The trials that were complete are kept below." : "No trial was complete.";
    return <Notice tone="warn" title="This sweep was cancelled" texts={[`There is no choice and no model. ${kept} Extend the sweep to go on.`]} />;
  }
  if (sweep.state === "SUCCEEDED" && sweep.stop_reason === "TIME_LIMIT") {
    const open = trials.filter((trial) => trial.state === "CANCELLED").length;
    return <Notice tone="warn" title="Time limit reached" texts={[`${open} of ${sweep.progress.settings} combinations were not completed, so the choice is among the others. Extend the sweep to try them.`]} />;
  }
  if (!sweepEnded(sweep.state) && sweep.state === "QUEUED") return <p class="quiet">The sweep starts as soon as a worker is free.</p>;
  return null;
}

function failure(sweep: Sweep, complete: number, trials: Trial[]): string[] {
  const texts = [sweep.error?.message ?? "There is no error message."];
  const reasons = [...new Set(trials.map((trial) => trial.reason).filter(Boolean))] as string[];
  texts.push(...reasons.filter((reason) => reason !== texts[0]).slice(0, 3));
  if (!complete && sweep.stop_reason === "TIME_LIMIT") {
    const { time_limit: each } = sweep.trial_limits;
    const most = each === null ? "" : ` of up to ${lasting(each)}`;
    texts.push(`A combination is complete when its ${sweep.n_folds} jobs${most} are done. Smaller depths take less time.`);
  } else if (sweep.links.extend) texts.push("Extend the sweep to try the failed jobs again, or train again with other parameters.");
  return texts;
}

function Notice({ tone, title, texts }: { tone: "bad" | "warn"; title: string; texts: string[] }) {
  return (
    <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : undefined}>
      <Icon name="warning" />
      <div><strong>{title}</strong>{texts.map((text) => <p>{text}</p>)}</div>
    </div>
  );
}
