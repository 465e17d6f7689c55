// What a sweep found: the choice, the leaderboard, charts, a tree and all trials.
import { useRef, useState } from "preact/hooks";
import type { Dataset, Sweep, Trial } from "../api/types.ts";
import { Tabs } from "../parts/tabs.tsx";
import { keepInLink, place } from "../router.ts";
import { WhyThisOne } from "./choice.tsx";
import type { SweepFeed } from "./feed.ts";
import { PathChart } from "./paths.tsx";
import { Scatter } from "./scatter.tsx";
import { TrialTree } from "./tree.tsx";
import { AllTrials, BestTrials } from "./trials.tsx";
import { sweepEnded, trialKey, trialName } from "./words.ts";

type Chart = "size" | "path";

interface Props { feed: SweepFeed; sweep: Sweep; model: string | null; dataset: Dataset | undefined }

export function Results({ feed, sweep, model, dataset }: Props) {
  const { board, trials } = feed;
  const [wanted, setWanted] = useState(() => place.value.query.get("trial"));
  const [chart, setChart] = useState<Chart>(() => (place.value.query.get("chart") === "path" ? "path" : "size"));
  const below = useRef<HTMLElement>(null);
  const chosen = board?.chosen ?? null;
  const shown = trials.find((trial) => trial.state === "SUCCEEDED" && (String(trial.number) === wanted || trialKey(trial) === wanted)) ?? chosen ?? undefined;
  const isChosen = Boolean(shown && chosen && trialKey(shown) === trialKey(chosen));
  const show = (trial: Trial) => {
    setWanted(trialKey(trial));
    keepInLink({ trial: trial.number === null ? trialKey(trial) : String(trial.number) });
  };
  const showBelow = (trial: Trial) => {
    show(trial);
    below.current?.scrollIntoView({ block: "nearest" });
  };
  const isPath = sweep.space.split_penalty === "path";
  const final = Boolean(board?.final);
  const shared = { sweep, chosen, final, shown };
  const charts = { size: "Score and leaves", ...(isPath && { path: "Path of a combination" }) } as Record<Chart, string>;
  return (
    <>
      {(chosen || !sweepEnded(sweep.state)) && (
        <div class="sweep-body">
          <div class="sweep-figures">
            <WhyThisOne sweep={sweep} board={board} model={model} />
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
                : <Scatter trials={trials} metric={sweep.metric} select={sweep.select} chosen={chosen} final={final} shown={shown} onShow={show} />}
            </Tabs>
          </section>
        </div>
      )}
      {shown && (
        <section class="panel tree-panel" aria-label="Tree of a trial" ref={below}>
          <h2>{trialName(shown)}{isChosen && (final ? ", the chosen one" : ", the best so far")}</h2>
          <TrialTree sweep={sweep} trial={shown} dataset={dataset} model={isChosen && final ? model : null} />
        </section>
      )}
      {trials.length > 0 && (
        <section class="panel" aria-label="Trials">
          <h2>All trials</h2>
          <AllTrials trials={trials} total={feed.total} {...shared} onShow={showBelow} />
        </section>
      )}
    </>
  );
}
