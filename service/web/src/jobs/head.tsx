// The head of a job's view, and how the job ended.
import type { Dataset, Job } from "../api/types.ts";
import { counted, moment, number, roughPercent } from "../format.ts";
import { useModelId } from "../models/found.ts";
import { StateBadge } from "../parts/badge.tsx";
import { DeleteButton } from "../parts/delete.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Icon } from "../parts/icons.tsx";
import { EditLabels } from "../runs/labels.tsx";
import { ended, stateWords, title } from "../words.ts";
import { Controls } from "./controls.tsx";
import type { JobFeed } from "./feed.ts";
import { NotifyButton } from "./notify.tsx";

interface Props { job: Job; feed: JobFeed; dataset: Dataset | undefined; alone: boolean }

export function JobHead({ job, feed, dataset, alone }: Props) {
  const { parameters, limits } = job;
  const model = useModelId(job.model_id);
  const limit = limits.time_limit === null ? "no time limit" : `at most ${number(limits.time_limit)} s`;
  const badges = (
    <>
      <EditLabels kind="jobs" record={job} onChange={(next) => feed.take(next)} />
      <StateBadge job={job} />
      {feed.stream === "waiting" && !ended(job.state) && <span class="badge rest" role="status">Reconnecting…</span>}
    </>
  );
  const about = (
    <>
      {dataset ? <a href={`#/datasets/${dataset.id}`}>{title(dataset)}</a> : "A dataset"}, depth {parameters.max_depth},{" "}
      {counted(parameters.max_changepoints, "change point")}, {(job.threads ?? 1) > 1 && `${counted(job.threads!, "thread")}, `}{limit};{" "}
      {job.started_at ? `started ${moment(job.started_at)}` : `created ${moment(job.created_at)}`}
    </>
  );
  return (
    <ViewHead title={title(job, dataset && title(dataset))} list={alone ? "Jobs" : undefined} level={alone ? "h1" : "h2"} beside={badges} about={about}>
      <Controls job={job} onJob={(next) => feed.take(next)} />
      <NotifyButton job={job} />
      {job.progress.incumbents > 0 && !model && <a class="button" href={`#/predict/job/${job.id}`}>Predict with the best tree</a>}
      {model && <a class="button primary" href={`#/models/${model}`}>Open the model</a>}
      {model && <a class="button" href={`#/predict/${model}`}>Predict</a>}
      {job.sweep_id && <a class="button" href={`#/sweeps/${job.sweep_id}`}>Open its sweep</a>}
      <a class="button" href={`#/train?from=${job.id}`}>Train again</a>
      {alone && ended(job.state) && !job.sweep_id && <DeleteButton kind="job" id={job.id} />}
    </ViewHead>
  );
}

/** The state for the title of the tab: "62 % explored, loans". */
export function titleWords(job: Job): string {
  const { explored, incumbents } = job.progress;
  const searching = job.state === "RUNNING" && explored !== null && incumbents > 0;
  return `${searching ? `${roughPercent(explored)} explored` : stateWords(job)}, ${title(job)}`;
}

/** Shows the error of a job that failed. */
export function Outcome({ job }: { job: Job }) {
  if (job.state !== "FAILED") return null;
  return (
    <div class="notice bad" role="alert">
      <Icon name="warning" />
      <div><strong>This job failed</strong><p>{job.error?.message ?? "There is no error message."}</p><p class="quiet">{job.error?.code}</p></div>
    </div>
  );
}
