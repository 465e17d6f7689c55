// The view of one sweep, updated live.
import { useEffect, useRef, useState } from "preact/hooks";
import { getIfFound } from "../api/client.ts";
import type { Dataset, Sweep, Trial } from "../api/types.ts";
import { counted, moment, percent } from "../format.ts";
import { ViewHead } from "../parts/head.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { keepInLink, place } from "../router.ts";
import { useResource } from "../state/resource.ts";
import { title } from "../words.ts";
import { WhyThisOne } from "./choice.tsx";
import { SweepControls } from "./controls.tsx";
import { SweepFeed } from "./feed.ts";
import { Outcome } from "./outcome.tsx";
import { PathChart } from "./paths.tsx";
import { SweepBadge, SweepProgress } from "./progress.tsx";
import { Scatter } from "./scatter.tsx";
import { TrialTree } from "./tree.tsx";
import { AllTrials, BestTrials } from "./trials.tsx";
import { METRICS, SELECTS, sweepEnded, sweepWords, trialKey, trialName } from "./words.ts";

function useFeed(id: string): SweepFeed {
  const [, redraw] = useState({});
  const feed = useRef<SweepFeed | undefined>(undefined);
  if (feed.current?.id !== id) {
    feed.current?.stop();
    feed.current = new SweepFeed(id, () => redraw({}));
  }
  useEffect(() => () => feed.current?.stop(), []);
  return feed.current;
}

/** The tab's title tells the progress of a sweep that runs. */
function useTitle(sweep: Sweep | undefined): void {
  const { done = 0, jobs = 0 } = sweep?.progress ?? {};
  const progress = sweep?.state === "RUNNING" ? percent(done / Math.max(1, jobs), 0) : sweep && sweepWords(sweep);
  const text = sweep && `${progress} – ${title(sweep)} – Literati`;
  useEffect(() => {
    if (text) document.title = text;
  }, [text]);
}

export function SweepView({ id }: { id: string }) {
  const feed = useFeed(id);
  const { sweep, board, trials } = feed;
  const [wanted, setWanted] = useState(() => place.value.query.get("trial"));
  const [chart, setChart] = useState<"size" | "path">(() => (place.value.query.get("chart") === "path" ? "path" : "size"));
  const below = useRef<HTMLElement>(null);
  useTitle(sweep);
  // If the dataset is deleted, only the distributions in the tree are missing.
  const dataset = useResource(`of ${sweep?.dataset_id}`, async (signal) =>
    sweep && getIfFound<Dataset>(`/v1/datasets/${sweep.dataset_id}`, signal));
  if (!sweep) return feed.error === undefined ? <Loading what="Loading the sweep" /> : <Failure error={feed.error} />;

  const chosen = board?.chosen ?? null;
  const complete = trials.filter((trial) => trial.state === "SUCCEEDED");
  const shown = complete.find((trial) => wanted !== null && (String(trial.number) === wanted || trialKey(trial) === wanted)) ?? chosen ?? undefined;
  const show = (trial: Trial) => {
    setWanted(trialKey(trial));
    keepInLink({ trial: trial.number === null ? trialKey(trial) : String(trial.number) });
  };
  const showBelow = (trial: Trial) => {
    show(trial);
    below.current?.scrollIntoView({ block: "nearest" });
  };
  const isPath = sweep.space.split_penalty === "path";
  const shared = { sweep, chosen, shown };
  const charts = { size: "Score and leaves", ...(isPath && { path: "Path of a combination" }) } as Record<"size" | "path", string>;
  return (
    <article class="sweep" aria-label={title(sweep)}>
      <SweepHead sweep={sweep} feed={feed} dataset={dataset.value} />
      {feed.error !== undefined && <Failure error={feed.error} />}
      <Outcome sweep={sweep} complete={complete.length} trials={trials} />
      <SweepProgress sweep={sweep} receivedAt={feed.receivedAt} />
      <div class="sweep-body">
        <div class="sweep-figures">
          <WhyThisOne sweep={sweep} board={board} />
          <section class="panel" aria-label="Best trials">
            <h2>Leaderboard</h2>
            <BestTrials board={board} {...shared} onShow={showBelow} />
          </section>
        </div>
        <section class="panel" aria-label="Charts">
          <Tabs
            label="Charts" names={charts} value={chart} onValue={(name) => {
              setChart(name);
              keepInLink({ chart: name === "path" ? name : null });
            }}
          >
            {chart === "path"
              ? <PathChart {...shared} trials={trials} round={feed.round} onShow={show} />
              : <Scatter trials={trials} metric={sweep.metric} select={sweep.select} chosen={chosen} shown={shown} onShow={show} />}
          </Tabs>
        </section>
      </div>
      {shown && (
        <section class="panel tree-panel" aria-label="Tree of a trial" ref={below}>
          <h2>{trialName(shown)}{chosen && trialKey(shown) === trialKey(chosen) ? board?.final ? ", the chosen one" : ", the best so far" : ""}</h2>
          <TrialTree sweep={sweep} trial={shown} dataset={dataset.value} chosen={Boolean(board?.final && chosen && trialKey(shown) === trialKey(chosen))} />
        </section>
      )}
      {trials.length > 0 && (
        <section class="panel" aria-label="Trials">
          <h2>All trials</h2>
          <AllTrials trials={trials} total={feed.total} {...shared} onShow={showBelow} />
        </section>
      )}
    </article>
  );
}

function SweepHead({ sweep, feed, dataset }: { sweep: Sweep; feed: SweepFeed; dataset: Dataset | undefined }) {
  const badges = (
    <>
      <SweepBadge sweep={sweep} />
      {feed.stream === "waiting" && !sweepEnded(sweep.state) && <span class="badge rest" role="status">Reconnecting…</span>}
    </>
  );
  const about = (
    <>
      Sweep over {dataset ? <a href={`#/datasets/${dataset.id}`}>{title(dataset)}</a> : "a dataset"}, judged by {METRICS[sweep.metric].name.toLowerCase()} on{" "}
      {counted(sweep.n_folds, "fold")}, taking {SELECTS[sweep.select].name.toLowerCase()}; started {moment(sweep.created_at)}
    </>
  );
  return (
    <ViewHead title={title(sweep)} list="Jobs" beside={badges} about={about}>
      <SweepControls sweep={sweep} onSweep={(next) => feed.take(next)} onExtended={() => void feed.open()} />
      <a class="button" href={`#/train?from=${sweep.id}`}>Train again</a>
    </ViewHead>
  );
}
