// Why a trial is chosen, and what to do with its model.
import { useState } from "preact/hooks";
import { getIfFound, request } from "../api/client.ts";
import type { Leaderboard, Model, Sweep } from "../api/types.ts";
import { count, orDash, percent } from "../format.ts";
import { usualAlias } from "../models/alias.ts";
import { Promote } from "../models/promote.tsx";
import { parameterName, valueText } from "../parameters.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Fact } from "../parts/fact.tsx";
import { Refusal } from "../parts/states.tsx";
import { useDatasetNames } from "../runs/datasets.ts";
import { fileName, save } from "../save.ts";
import { useAction } from "../state/action.ts";
import { useResource } from "../state/resource.ts";
import { title } from "../words.ts";
import { meanCount, METRICS, metricWords, scoreRange, scoreWords } from "./words.ts";

export function WhyThisOne({ sweep, board, model }: { sweep: Sweep; board: Leaderboard | undefined; model: string | null }) {
  const { metric } = sweep;
  const chosen = board?.chosen;
  if (!chosen || chosen.mean == null) return null;
  const parameters = { ...chosen.parameters, ...(chosen.penalty != null && { split_penalty: chosen.penalty }) };
  return (
    <section class="panel why" aria-label={board.final ? "Why this one" : "Best so far"}>
      <div class="row">
        <h2>{board.final ? "Why this one" : "Best so far"}</h2>
        <span class="push"><CopyButton label="Copy the parameters" text={() => JSON.stringify(parameters, null, 2)} /></span>
      </div>
      <p>{board.explanation}</p>
      <dl class="facts">
        <Fact name={METRICS[metric].name}>{scoreRange(metric, chosen.mean, chosen.standard_error ?? null)}</Fact>
        <Fact name="Leaves">{orDash(chosen.leaves, meanCount)}</Fact>
        {Object.entries(parameters).map(([key, value]) => <Fact key={key} name={parameterName(key)}>{valueText(value)}</Fact>)}
      </dl>
      <p class="quiet">± is one standard error of the mean over {sweep.n_folds} folds. Leaves are a mean over the folds, too.</p>
      {sweep.model_id && !model && (
        <p class="quiet">The model of this sweep is deleted. {sweep.refit_job_id && <><a href={`#/jobs/${sweep.refit_job_id}`}>Its job</a> can make it again.</>}</p>
      )}
      {model && <OfModel sweep={sweep} modelId={model} />}
      {sweep.model_id && <HeldOut sweep={sweep} />}
    </section>
  );
}

function OfModel({ sweep, modelId }: { sweep: Sweep; modelId: string }) {
  const model = useResource(modelId, (signal) => getIfFound<Model>(`/v1/models/${modelId}`, signal));
  const datasets = useDatasetNames();
  const [promoting, setPromoting] = useState(false);
  const tested = sweep.test && model.value?.metrics.validation;
  return (
    <>
      {tested && <TestScore metric={sweep.metric} scores={tested} />}
      <div class="row">
        <a class="button primary" href={`#/models/${modelId}`}>Open the model</a>
        <a class="button" href={`#/predict/${modelId}`}>Predict</a>
        <button type="button" onClick={() => setPromoting(true)}>Put in production</button>
      </div>
      {promoting && <Promote modelId={modelId} alias={usualAlias(datasets, sweep.dataset_id)} datasets={datasets} onClose={() => setPromoting(false)} />}
    </>
  );
}

/** Saves what the trees of the folds predict. */
function HeldOut({ sweep }: { sweep: Sweep }) {
  const { run, busy, error } = useAction();
  const savePredictions = () => run(async () => {
    const answer = await request(`/v1/sweeps/${sweep.id}/oof`, { headers: { Accept: "text/csv" } });
    save(`${fileName(`${title(sweep)} held-out predictions`)}.csv`, "text/csv", await answer.blob());
  });
  return (
    <>
      <p><button type="button" disabled={busy} title="What the tree of each fold predicts for the rows that it did not see" onClick={() => void savePredictions()}>Held-out predictions</button></p>
      <Refusal error={error} />
    </>
  );
}

type Scores = NonNullable<Model["metrics"]["validation"]>;

function TestScore({ metric, scores }: { metric: string; scores: Scores }) {
  const value = scores[metric as "accuracy"];
  if (value == null) return null;
  const interval = metric === "accuracy" ? scores.accuracy_interval : null;
  return (
    <p class="test-score">
      <strong>{scoreWords(metric, value)}</strong> {metricWords(metric)} of the model on {count(scores.rows)} test rows that no trial saw
      {interval && ` (95 % interval ${percent(interval.low)} to ${percent(interval.high)})`}.
    </p>
  );
}
