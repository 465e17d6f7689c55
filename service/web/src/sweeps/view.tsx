// The view of one sweep, updated live.
import { getIfFound } from "../api/client.ts";
import type { Dataset, Sweep } from "../api/types.ts";
import { counted, moment, percent } from "../format.ts";
import { useModelId } from "../models/found.ts";
import { ViewHead } from "../parts/head.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { place } from "../router.ts";
import { EditLabels, Labels } from "../runs/labels.tsx";
import { useFeed } from "../state/record-feed.ts";
import { useResource } from "../state/resource.ts";
import { useSignal } from "../state/signal.ts";
import { useTabTitle } from "../state/tab-title.ts";
import { title } from "../words.ts";
import { SweepControls } from "./controls.tsx";
import { SweepFeed } from "./feed.ts";
import { Outcome } from "./outcome.tsx";
import { SweepBadge, SweepProgress } from "./progress.tsx";
import { Results } from "./results.tsx";
import { metricWords, SELECTS, sweepEnded, sweepWords } from "./words.ts";

/** The state for the title of the tab: "62 % tried, loans". */
function titleWords(sweep: Sweep): string {
  const { done, jobs } = sweep.progress;
  const state = sweep.state === "RUNNING" ? `${percent(done / Math.max(1, jobs), 0)} tried` : sweepWords(sweep);
  return `${state}, ${title(sweep)}`;
}

export function SweepView({ id }: { id: string }) {
  const feed = useFeed(id, SweepFeed);
  const { sweep, trials } = feed;
  useTabTitle(sweep ? titleWords(sweep) : null);
  const model = useModelId(sweep?.model_id ?? null);
  const { visit } = useSignal(place); // another link of this view may open another trial
  // If the dataset is deleted, only the distributions in the tree are missing.
  const dataset = useResource(`of ${sweep?.dataset_id}`, async (signal) =>
    sweep && getIfFound<Dataset>(`/v1/datasets/${sweep.dataset_id}`, signal));
  if (!sweep) return feed.error === undefined ? <Loading what="Loading the sweep" /> : <Failure error={feed.error} retry={() => void feed.open()} />;
  return (
    <article class="sweep" aria-label={title(sweep)}>
      <SweepHead sweep={sweep} feed={feed} dataset={dataset.value} />
      {feed.error !== undefined && <Failure error={feed.error} retry={() => void feed.open()} />}
      {feed.round > 0 && <Outcome sweep={sweep} trials={trials} />}
      <SweepProgress sweep={sweep} receivedAt={feed.receivedAt} />
      {feed.round === 0 && feed.error === undefined && <Loading what="Loading the trials" />}
      {feed.round > 0 && <Results key={visit} feed={feed} sweep={sweep} model={model} dataset={dataset.value} />}
      <Labels kind="sweeps" record={sweep} onChange={(next) => feed.take(next)} />
    </article>
  );
}

function SweepHead({ sweep, feed, dataset }: { sweep: Sweep; feed: SweepFeed; dataset: Dataset | undefined }) {
  const badges = (
    <>
      <EditLabels kind="sweeps" record={sweep} onChange={(next) => feed.take(next)} />
      <SweepBadge sweep={sweep} />
      {feed.stream === "waiting" && !sweepEnded(sweep.state) && <span class="badge rest" role="status">Reconnecting…</span>}
    </>
  );
  const about = (
    <>
      Sweep over {dataset ? <a href={`#/datasets/${dataset.id}`}>{title(dataset)}</a> : "a dataset"}, judged by {metricWords(sweep.metric)} on{" "}
      {counted(sweep.n_folds, "fold")}, taking {SELECTS[sweep.select].name.toLowerCase()}; started {moment(sweep.created_at)}
    </>
  );
  return (
    <ViewHead title={title(sweep, dataset && title(dataset))} list="Jobs" beside={badges} about={about}>
      <SweepControls sweep={sweep} onSweep={(next) => feed.take(next)} onExtended={() => void feed.open()} />
      <a class="button" href={`#/train?from=${sweep.id}`}>Train again</a>
    </ViewHead>
  );
}
