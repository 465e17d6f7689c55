// How far a sweep is: jobs, and time of its limit.
import { useEffect, useState } from "preact/hooks";
import type { Sweep, SweepSummary } from "../api/types.ts";
import { counted, lasting, seconds } from "../format.ts";
import { progressWords, sweepEnded, sweepTone, sweepWords } from "./words.ts";

export function SweepBadge({ sweep }: { sweep: Pick<SweepSummary, "state" | "stop_reason"> }) {
  return <span class={`badge ${sweepTone(sweep)}`}>{sweepWords(sweep)}</span>;
}

/** The bar of the jobs that are done; those that run are a lighter part of it. */
export function JobsBar({ sweep }: { sweep: Pick<Sweep, "progress"> }) {
  const { done, running, failed, jobs } = sweep.progress;
  const wide = (part: number) => ({ width: `${(100 * part) / Math.max(1, jobs)}%` });
  return (
    <div class="jobs-bar" role="progressbar" aria-label="Jobs done" aria-valuemin={0} aria-valuemax={jobs} aria-valuenow={done} aria-valuetext={progressWords(sweep)}>
      <span class="done" style={wide(done)} /><span class="failed" style={wide(failed)} /><span class="running" style={wide(running)} />
    </div>
  );
}

/** Seconds in the state RUNNING, which go on between two loads. */
function useSeconds(sweep: Sweep, receivedAt: number): number {
  const [, tick] = useState(0);
  const runs = sweep.state === "RUNNING";
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => tick((old) => old + 1), 1000);
    return () => clearInterval(timer);
  }, [runs]);
  return sweep.seconds + (runs ? (performance.now() - receivedAt) / 1000 : 0);
}

export function SweepProgress({ sweep, receivedAt }: { sweep: Sweep; receivedAt: number }) {
  const used = useSeconds(sweep, receivedAt);
  const { time_limit: limit } = sweep.limits;
  const { settings } = sweep.progress;
  const time = limit === null ? `${seconds(used)}, no time limit` : `${seconds(Math.min(used, limit))} of ${lasting(limit)}`;
  return (
    <section class="sweep-progress" aria-label="Progress">
      {!sweepEnded(sweep.state) && <JobsBar sweep={sweep} />}
      <p class="row">
        <span><strong>{progressWords(sweep)}</strong></span>
        <span class="quiet">{counted(settings, "combination")} × {sweep.n_folds} folds</span>
        <span class="quiet">Time: {time}</span>
      </p>
    </section>
  );
}
