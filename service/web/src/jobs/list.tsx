// The list of jobs with their bounds; running jobs are updated.
import { useEffect, useState } from "preact/hooks";
import { get, send } from "../api/client.ts";
import type { JobPage, JobSummary, Trace as StoredTrace } from "../api/types.ts";
import { moment, number, orDash, percent, seconds } from "../format.ts";
import { Fact, StateBadge } from "../parts/badge.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Await, Empty, Refusal } from "../parts/states.tsx";
import { useAction } from "../state/action.ts";
import { useResource } from "../state/resource.ts";
import { BEYOND_SPACE, ended, title } from "../words.ts";
import { ExploredLine } from "./explored.tsx";
import { Sparkline } from "./sparkline.tsx";
import { Trace } from "./trace.ts";

export const MAX_TOGETHER = 3; // each needs a stream, and a browser opens only six connections
const REFRESH_INTERVAL = 1500;
const SHOWN = 24;
const MAX_SHOWN = 192;

export function Jobs() {
  const [shown, setShown] = useState(SHOWN);
  const jobs = useResource(
    `jobs ${shown}`, (signal) => get<JobPage>(`/v1/jobs?page_size=${Math.min(MAX_SHOWN, shown)}`, signal),
    (page) => (page?.items.some((job) => !ended(job.state)) ? REFRESH_INTERVAL : 4 * REFRESH_INTERVAL),
  );
  const [chosen, setChosen] = useState<string[]>([]);
  const { run, error } = useAction();
  const toggle = (id: string) => setChosen((old) => (old.includes(id) ? old.filter((other) => other !== id) : [...old, id].slice(-MAX_TOGETHER)));
  const remove = (id: string) => run(async () => {
    await send("DELETE", `/v1/jobs/${id}`);
    setChosen((old) => old.filter((other) => other !== id));
    jobs.reload();
  });
  return (
    <>
      <ViewHead title="Jobs" about="Running, queued and ended searches.">
        <a class="button primary" href="#/train">Start a job</a>
        {chosen.length > 1 && <a class="button" href={`#/jobs/${chosen.join(",")}`}>Compare {chosen.length} jobs</a>}
        {chosen.length === 1 && <span class="quiet">Choose another job to compare them (up to {MAX_TOGETHER}).</span>}
      </ViewHead>
      <Refusal error={error} />
      <Await from={jobs} what="Loading the jobs">
        {(page) => page.items.length === 0
          ? (
            <Empty title="No jobs yet">
              <p>Start a job to search for an optimal tree.</p>
              <p><a class="button primary" href="#/train">Start a job</a></p>
            </Empty>
          )
          : (
            <>
              <ul class="cards">
                {page.items.map((job) => (
                  <Card key={job.id} job={job} chosen={chosen.includes(job.id)} onChoose={() => toggle(job.id)} onDelete={() => void remove(job.id)} />
                ))}
              </ul>
              {page.next_page_token && (shown < MAX_SHOWN
                ? <button type="button" onClick={() => setShown(shown + SHOWN)}>Show more</button>
                : <p class="quiet">The newest {MAX_SHOWN} are shown.</p>)}
            </>
          )}
      </Await>
    </>
  );
}

function Card({ job, chosen, onChoose, onDelete }: { job: JobSummary; chosen: boolean; onChoose: () => void; onDelete: () => void }) {
  const trace = useTrace(job);
  const { progress } = job;
  return (
    <li class={chosen ? "card chosen" : "card"}>
      <div class="row">
        <h2><a href={`#/jobs/${job.id}`}>{title(job)}</a></h2>
        <StateBadge job={job} />
      </div>
      <Sparkline trace={trace} />
      <ExploredLine job={job} />
      {job.error && <p class="error">{job.error.message}</p>}
      <dl class="facts">
        <Fact name="Cost" title={progress.beyond_space ? BEYOND_SPACE : undefined}>{orDash(progress.objective, number)}</Fact>
        <Fact name="Gap">{orDash(progress.gap_relative, percent)}</Fact>
        <Fact name="Accuracy">{orDash(job.metrics?.validation_accuracy ?? job.metrics?.train_accuracy, percent)}</Fact>
        <Fact name="Time">{seconds(progress.elapsed_seconds)}</Fact>
      </dl>
      <div class="row quiet">
        <label><input type="checkbox" checked={chosen} onChange={onChoose} aria-label={`Choose ${title(job)}`} /> Compare</label>
        <span class="push">{moment(job.created_at)}</span>
        {ended(job.state) && <button type="button" class="small" onClick={onDelete} aria-label={`Delete ${title(job)}`}>Delete</button>}
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
