// The view of one job: its bounds, figures and best tree, updated live.
import { useEffect, useRef, useState } from "preact/hooks";
import { getIfFound } from "../api/client.ts";
import type { Dataset, Job } from "../api/types.ts";
import { counted, moment, number, orDash, seconds } from "../format.ts";
import { StateBadge } from "../parts/badge.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Icon } from "../parts/icons.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { useResource } from "../state/resource.ts";
import { UseIt } from "../use/use-it.tsx";
import { BEYOND_SPACE, ended, spaceWords, title } from "../words.ts";
import { BoundChart } from "./chart.tsx";
import { Controls } from "./controls.tsx";
import { Explored, shareWords } from "./explored.tsx";
import { Accuracy, Facts } from "./facts.tsx";
import { JobFeed } from "./feed.ts";
import { Incumbents } from "./incumbents.tsx";

function useFeed(id: string): JobFeed {
  const [, redraw] = useState({});
  const feed = useRef<JobFeed | undefined>(undefined);
  if (feed.current?.id !== id) {
    feed.current?.stop();
    feed.current = new JobFeed(id, () => redraw({}));
  }
  useEffect(() => () => feed.current?.stop(), []);
  return feed.current;
}

export function JobView({ id, alone }: { id: string; alone: boolean }) {
  const feed = useFeed(id);
  const [chosen, setChosen] = useState<number | null>(null);
  const { job } = feed;
  // If the dataset is deleted, only the distributions in the tree are missing.
  const dataset = useResource(`of ${job?.dataset_id}`, async (signal) =>
    job && getIfFound<Dataset>(`/v1/datasets/${job.dataset_id}`, signal));
  if (!job) return feed.error === undefined ? <Loading what="Loading the job" /> : <Failure error={feed.error} />;
  return (
    <article class="job" aria-label={title(job)}>
      <JobHead job={job} feed={feed} dataset={dataset.value} alone={alone} />
      {feed.error !== undefined && <Failure error={feed.error} />}
      <Outcome job={job} />
      <Explored job={job} />
      <Facts job={job} rate={feed.trace.rate()} />
      <div class="job-body">
        <section class="job-figures" aria-label={`Progress of ${title(job)}`}>
          <div class="panel">
            <h2>Bounds</h2>
            <BoundChart trace={feed.trace} improvements={feed.improvements} spaces={feed.spaces} onPick={setChosen} />
          </div>
          <Improvements feed={feed} onPick={setChosen} />
          <Accuracy metrics={job.metrics} />
          <Log feed={feed} />
        </section>
        <section class="panel job-tree" aria-label={`Trees of ${title(job)}`}>
          <h2>{chosen !== null ? `Tree ${chosen}` : ended(job.state) ? "Best tree" : "Best tree so far"}</h2>
          <Incumbents feed={feed} dataset={dataset.value} chosen={chosen} onChoose={setChosen} />
        </section>
      </div>
      {alone && <UseIt of={{ job }} folded />}
    </article>
  );
}

function JobHead({ job, feed, dataset, alone }: { job: Job; feed: JobFeed; dataset: Dataset | undefined; alone: boolean }) {
  const { parameters, limits } = job;
  const limit = limits.time_limit === null ? "no time limit" : `at most ${number(limits.time_limit)} s`;
  const badges = (
    <>
      <StateBadge job={job} />
      {feed.stream === "waiting" && !ended(job.state) && <span class="badge rest" role="status">Reconnecting…</span>}
    </>
  );
  const about = (
    <>
      {dataset ? <a href={`#/datasets/${dataset.id}`}>{title(dataset)}</a> : "A dataset"}, depth {parameters.max_depth},{" "}
      {counted(parameters.max_changepoints, "change point")}, {(job.threads ?? 1) > 1 && `${counted(job.threads!, "thread")}, `}{limit}; started {moment(job.created_at)}
    </>
  );
  return (
    <ViewHead title={title(job)} list={alone ? "Jobs" : undefined} level={alone ? "h1" : "h2"} beside={badges} about={about}>
      <Controls job={job} onJob={(next) => feed.take(next)} />
      {job.progress.incumbents > 0 && !job.model_id && <a class="button" href={`#/predict/job/${job.id}`}>Predict with this tree</a>}
      {job.model_id && <a class="button primary" href={`#/models/${job.model_id}`}>Open the model</a>}
      {job.model_id && <a class="button" href={`#/predict/${job.model_id}`}>Predict</a>}
      <a class="button" href={`#/train?from=${job.id}`}>Train again</a>
    </ViewHead>
  );
}

/** Shows how the job ended, and the error if it failed. */
function Outcome({ job }: { job: Job }) {
  if (job.state === "FAILED") {
    return (
      <div class="notice bad" role="alert">
        <Icon name="warning" />
        <div><strong>This job failed</strong><p>{job.error?.message ?? "There is no error message."}</p><p class="quiet">{job.error?.code}</p></div>
      </div>
    );
  }
  if (job.state === "SUCCEEDED" && job.proven_optimal) {
    return (
      <div class="notice good">
        <Icon name="check" />
        <p>
          Proven optimal after {seconds(job.progress.elapsed_seconds)}: over {spaceWords(job.proven_space)}, no tree costs less
          than {number(job.progress.upper_bound ?? 0)}.{job.progress.beyond_space && ` ${BEYOND_SPACE}`}
        </p>
      </div>
    );
  }
  return null;
}

/** Shows the improvements of the chart as a table, for screen readers and exact figures. */
function Improvements({ feed, onPick }: { feed: JobFeed; onPick: (revision: number | null) => void }) {
  if (!feed.improvements.length) return null;
  const shown = [...feed.improvements].reverse().slice(0, 200);
  const shares = shown.some((entry) => entry.explored !== null);
  return (
    <details class="panel">
      <summary>When the tree improved</summary>
      <div class="scroll short" role="region" aria-label={`When the tree of ${title(feed.job!)} improved`} tabIndex={0}>
        <table class="list compact">
          <thead><tr><th scope="col">Tree</th><th scope="col" class="right">After</th><th scope="col" class="right">Cost</th><th scope="col" class="right">Lower bound</th>{shares && <th scope="col" class="right">Explored</th>}</tr></thead>
          <tbody>
            {shown.map((entry) => (
              <tr key={entry.revision}>
                <th scope="row"><button type="button" class="link" onClick={() => onPick(entry.revision)}>Tree {entry.revision}</button></th>
                <td class="right">{entry.seconds === null ? "" : seconds(entry.seconds)}</td>
                <td class="right">{number(entry.objective)}</td>
                <td class="right">{number(entry.lower)}</td>
                {shares && <td class="right">{orDash(entry.explored, shareWords)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function Log({ feed }: { feed: JobFeed }) {
  if (!feed.logs.length) return null;
  return (
    <details class="panel">
      <summary>Search log</summary>
      <ul class="notes">{feed.logs.slice(-50).map((entry) => <li><span class="quiet">{moment(entry.at)}</span> {entry.message}</li>)}</ul>
    </details>
  );
}
