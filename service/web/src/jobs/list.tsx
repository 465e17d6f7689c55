// Jobs and sweeps: cards of what is running or waiting, tables of what has ended.
import { useState } from "preact/hooks";
import { LostError } from "../api/client.ts";
import type { JobState, JobSummary, SweepSummary } from "../api/types.ts";
import { count } from "../format.ts";
import { ViewHead } from "../parts/head.tsx";
import { Await, Empty, Failure } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { type DatasetNames, useDatasetNames } from "../runs/datasets.ts";
import { JobsTable } from "../runs/jobs-table.tsx";
import { useLinked } from "../runs/linked.ts";
import { useRecords } from "../runs/records.ts";
import { SweepCard } from "../sweeps/card.tsx";
import { LIVE_SWEEPS } from "../sweeps/words.ts";
import { SweepsTable } from "../runs/sweeps-table.tsx";
import { title } from "../words.ts";
import { JobCard } from "./card.tsx";

/** The states of jobs that have not ended, in the order of their cards. */
const LIVE_JOBS: JobState[] = ["RUNNING", "STARTING", "STOPPING", "PAUSING", "PAUSED", "QUEUED"];
const MAX_CARDS = 12; // until the user asks for all

export function Jobs() {
  const jobs = useRecords<JobSummary>("/v1/jobs", LIVE_JOBS);
  const sweeps = useRecords<SweepSummary>("/v1/sweeps", LIVE_SWEEPS);
  const datasets = useDatasetNames();
  const [shown, setShown] = useLinked("show");
  const [chosen, setChosen] = useState(new Set<string>());
  const searches = sweeps.value?.items ?? [];
  const sweepsFailed = sweeps.error !== undefined && !(sweeps.error instanceof LostError) && <Failure error={sweeps.error} retry={sweeps.reload} />;
  return (
    <>
      <ViewHead title="Jobs" about="A job searches for the best tree. A sweep runs many jobs to find the best parameters.">
        <a class="button primary" href="#/train">Start a job</a>
      </ViewHead>
      <Await from={jobs} what="Loading the jobs">
        {({ items, complete }) => items.length === 0 && searches.length === 0
          ? sweepsFailed || (sweeps.value && <NoJobs />)
          : (
            <>
              {sweepsFailed}
              <Cards jobs={items} sweeps={searches} datasets={datasets} chosen={chosen} onChosen={setChosen} />
              <Tabs
                label="Kinds of runs" value={shown === "sweeps" ? "sweeps" : "jobs"} onValue={(name) => setShown(name === "jobs" ? "" : name)}
                names={{ jobs: "Jobs", sweeps: `Sweeps${searches.length ? ` (${count(searches.length)})` : ""}` }}
              >
                {shown === "sweeps"
                  ? <SweepsTable sweeps={searches} complete={sweeps.value?.complete ?? true} datasets={datasets} onChange={sweeps.put} />
                  : (
                    <JobsTable
                      jobs={items} complete={complete} sweeps={searches} datasets={datasets} chosen={chosen} onChosen={setChosen} onChange={jobs.put}
                    />
                  )}
              </Tabs>
            </>
          )}
      </Await>
    </>
  );
}

function NoJobs() {
  return (
    <Empty title="No jobs yet">
      <p>Start a job to search for an optimal tree.</p>
      <p><a class="button primary" href="#/train">Start a job</a></p>
    </Empty>
  );
}

interface CardsProps {
  jobs: JobSummary[];
  sweeps: SweepSummary[];
  datasets: DatasetNames;
  chosen: Set<string>;
  onChosen: (chosen: Set<string>) => void;
}

function Cards({ jobs, sweeps, datasets, chosen, onChosen }: CardsProps) {
  const [all, setAll] = useState(false);
  const running = sweeps.filter((sweep) => LIVE_SWEEPS.includes(sweep.state));
  const rank = (job: JobSummary) => LIVE_JOBS.indexOf(job.state);
  const live = jobs.filter((job) => rank(job) >= 0)
    .sort((a, b) => rank(a) - rank(b) || Date.parse(b.created_at) - Date.parse(a.created_at));
  if (!running.length && !live.length) return null;
  const shown = all ? live : live.slice(0, MAX_CARDS);
  const choose = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    onChosen(next);
  };
  return (
    <section aria-label="Running and waiting" class="running">
      <h2>Running and waiting</h2>
      <ul class="cards">
        {running.map((sweep) => <SweepCard key={sweep.id} sweep={sweep} name={title(sweep, datasets.get(sweep.dataset_id))} />)}
        {shown.map((job) => (
          <JobCard
            key={job.id} job={job} name={title(job, datasets.get(job.dataset_id))}
            chosen={chosen.has(job.id)} onChoose={(on) => choose(job.id, on)}
          />
        ))}
      </ul>
      {shown.length < live.length && <button type="button" onClick={() => setAll(true)}>Show all {count(live.length)} jobs</button>}
    </section>
  );
}
