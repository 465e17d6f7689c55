// The tree of a trial on one fold.
import { useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { Dataset, Sweep, Tree, Trial } from "../api/types.ts";
import { Select } from "../parts/field.tsx";
import { Await } from "../parts/states.tsx";
import { keepInLink, place } from "../router.ts";
import { useResource } from "../state/resource.ts";
import { depthOf, leafCount, proofWords } from "../tree/shape.ts";
import { TreeView } from "../tree/view.tsx";
import { title } from "../words.ts";
import { leafWords, METRICS, scoreRange, scoreWords, settingWords, trialName } from "./words.ts";

/** `model` is the id of the model of the trial, if it has one. */
export function TrialTree({ sweep, trial, dataset, model }: { sweep: Sweep; trial: Trial; dataset: Dataset | undefined; model: string | null }) {
  const [wanted, setWanted] = useState(() => Math.max(0, Number(place.value.query.get("fold")) || 0));
  const fold = Math.min(wanted, sweep.n_folds - 1);
  const { metric } = sweep;
  const penalty = trial.penalty_range ? `?penalty=${trial.penalty}` : "";
  const address = `/v1/sweeps/${sweep.id}/settings/${trial.setting}/folds/${fold}/tree${penalty}`;
  const tree = useResource(address, (signal) => get<Tree>(address, signal));
  const folds = Object.fromEntries(trial.fold_scores.map((score, i) =>
    [String(i), `Fold ${i + 1}${score === null ? "" : `: ${scoreWords(metric, score)}`}`]));
  return (
    <>
      <p class="quiet">
        {settingWords(trial.parameters, trial.penalty)}.{" "}
        {trial.mean != null && `${METRICS[metric].name} ${scoreRange(metric, trial.mean, trial.standard_error ?? null)} over the folds. `}
        This tree was trained without the rows of its fold.
        {model && <> The tree for all rows is <a href={`#/models/${model}`}>the model</a>.</>}
      </p>
      {/* Outside of what is loaded again, so that the select keeps the focus. */}
      <label class="row fold">Fold
        <Select
          aria-label="Fold" value={String(fold)} choices={folds} onValue={(value) => {
            setWanted(Number(value));
            keepInLink({ fold: value });
          }}
        />
      </label>
      <Await from={tree} what="Loading the tree">
        {(found) => (
          <TreeView tree={found} dataset={dataset} name={`${title(sweep)} ${trialName(trial)} fold ${fold + 1}`}>
            <span class="quiet">{leafWords(leafCount(found))}, depth {depthOf(found)}. {proofWords(found)}</span>
          </TreeView>
        )}
      </Await>
    </>
  );
}
