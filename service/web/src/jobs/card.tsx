// The card of a job that has not ended, with its bounds.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { JobSummary, Trace as StoredTrace } from "../api/types.ts";
import { moment, number, orDash, percent, seconds } from "../format.ts";
import { StateBadge } from "../parts/badge.tsx";
import { Fact } from "../parts/fact.tsx";
import { gapWords } from "../quality/sentences.ts";
import { BEYOND_SPACE, ended } from "../words.ts";
import { ExploredLine } from "./explored.tsx";
import { Sparkline } from "./sparkline.tsx";
import { Trace } from "./trace.ts";

export function JobCard({ job, name, chosen, onChoose }: { job: JobSummary; name: string; chosen: boolean; onChoose: (on: boolean) => void }) {
  const trace = useTrace(job);
  const { progress, metrics } = job;
  const held = metrics?.validation_accuracy != null;
  return (
    <li class={chosen ? "card chosen" : "card"}>
      <div class="row">
        <h3><a href={`#/jobs/${job.id}`}>{name}</a></h3>
        <StateBadge job={job} />
      </div>
      <Sparkline trace={trace} />
      <ExploredLine job={job} />
      <dl class="facts">
        <Fact name="Cost" title={progress.beyond_space ? BEYOND_SPACE : undefined}>{orDash(progress.objective, number)}</Fact>
        <Fact name="Gap">{gapWords(progress)}</Fact>
        <Fact name={held ? "Held-back accuracy" : "Training accuracy"}>{orDash(held ? metrics!.validation_accuracy : metrics?.train_accuracy, percent)}</Fact>
        <Fact name="Time">{seconds(progress.elapsed_seconds)}</Fact>
      </dl>
      <div class="row quiet">
        <label>
          <input type="checkbox" checked={chosen} onChange={(event) => onChoose(event.currentTarget.checked)} aria-label={`Choose ${name}`} /> Choose
        </label>
        <span class="push">{moment(job.created_at)}</span>
      </div>
    </li>
  );
}

/** Loads the trace once and then appends the bounds of the list. */
function useTrace(job: JobSummary): Trace {
  const [trace, setTrace] = useState(() => new Trace());
  const started = job.progress.incumbents > 0;
  const over = ended(job.state);
  useEffect(() => {
    if (!started) return undefined;
    const stop = new AbortController();
    get<StoredTrace>(`/v1/jobs/${job.id}/trace`, stop.signal).then(
      ({ points }) => setTrace(Trace.of(points)), () => undefined,
    );
    return () => stop.abort();
  }, [job.id, started, over]);
  trace.extend(job.progress);
  return trace;
}
