// The view of one job: its bounds, scores, figures and trees, updated live.
import { getIfFound } from "../api/client.ts";
import type { Dataset } from "../api/types.ts";
import { Failure, Loading } from "../parts/states.tsx";
import { Accuracy } from "../quality/accuracy.tsx";
import { Headline } from "../quality/headline.tsx";
import { Notices } from "../quality/notices.tsx";
import { Labels } from "../runs/labels.tsx";
import { useFeed } from "../state/record-feed.ts";
import { useResource } from "../state/resource.ts";
import { useTabTitle } from "../state/tab-title.ts";
import { UseIt } from "../use/use-it.tsx";
import { ended, title } from "../words.ts";
import type { TimeView } from "./axes.ts";
import { BoundChart } from "./chart.tsx";
import { Explored } from "./explored.tsx";
import { Facts } from "./facts.tsx";
import { JobFeed } from "./feed.ts";
import { JobHead, Outcome, titleWords } from "./head.tsx";
import { Improvements, Log } from "./history.tsx";
import { Incumbents } from "./incumbents.tsx";
import { ScoreChart } from "./score-chart.tsx";
import { Settings } from "./settings.tsx";
import { metricsOf, proofOf, useShownTree } from "./shown.ts";
import { useViewState } from "./view-state.ts";

export function JobView({ id, alone }: { id: string; alone: boolean }) {
  const feed = useFeed(id, JobFeed);
  const [view, change] = useViewState(alone);
  const { revision, shown, error } = useShownTree(feed, view.revision);
  const { job } = feed;
  useTabTitle(alone && job ? titleWords(job) : null);
  // If the dataset is deleted, only the distributions in the tree are missing.
  const dataset = useResource(`of ${job?.dataset_id}`, async (signal) =>
    job && getIfFound<Dataset>(`/v1/datasets/${job.dataset_id}`, signal));
  if (!job) return feed.error === undefined ? <Loading what="Loading the job" /> : <Failure error={feed.error} retry={() => void feed.open()} />;

  const { trace, improvements, scores, spaces } = feed;
  const newest = job.progress.incumbents;
  const choose = (next: number) => change({ revision: next < newest ? next : null });
  const metrics = shown && metricsOf(shown, job);
  const earlier = revision < newest;
  const time: TimeView = { sync: id, logTime: view.logTime, zoom: view.zoom, onZoom: (zoom) => change({ zoom }) };
  return (
    <article class="job" aria-label={title(job)}>
      <JobHead job={job} feed={feed} dataset={dataset.value} alone={alone} />
      {feed.error !== undefined && <Failure error={feed.error} retry={() => void feed.open()} />}
      <Outcome job={job} />
      {shown && metrics && (
        <>
          <Headline
            metrics={metrics} proof={proofOf(shown, job)} running={!ended(job.state)}
            later={earlier ? { revision: newest, objective: job.progress.objective ?? 0 } : undefined}
          />
          <Notices metrics={metrics} jobId={job.id} datasetId={job.dataset_id} parameters={job.parameters} />
        </>
      )}
      <Explored job={job} />
      <Facts {...{ feed, shown, metrics }} />
      <div class="job-body">
        <section class="job-figures" aria-label={`Progress of ${title(job)}`}>
          <div class="panel">
            <h2>Bounds</h2>
            <BoundChart
              {...{ trace, improvements, spaces, time }} chosen={revision} log={view.log} onLog={(log) => change({ log })}
              onLogTime={(logTime) => change({ logTime })} onPick={choose}
            />
          </div>
          {scores.length > 0 && (
            <div class="panel">
              <h2>Scores of the trees</h2>
              <ScoreChart
                {...{ trace, improvements, time }} chosen={revision} points={scores} metrics={job.metrics}
                score={view.score} onScore={(score) => change({ score })} onPick={choose}
              />
            </div>
          )}
          <Improvements feed={feed} onPick={choose} />
          <Log feed={feed} />
        </section>
        <div class="job-side">
          <section class="panel job-tree" aria-label={`Trees of ${title(job)}`}>
            <h2>{earlier ? `Tree ${revision}` : ended(job.state) ? "Best tree" : "Best tree so far"}</h2>
            <Incumbents {...{ feed, revision, shown, error }} dataset={dataset.value} onChoose={choose} />
          </section>
          <Accuracy metrics={metrics ?? null} />
          <div class="columns">
            <Settings job={job} />
            <Labels kind="jobs" record={job} onChange={(next) => feed.take(next)} />
          </div>
        </div>
      </div>
      {alone && <UseIt of={{ job }} folded />}
    </article>
  );
}
