// The view of one model: tree, figures and names.
import { useState } from "preact/hooks";
import { get, getIfFound } from "../api/client.ts";
import type { Dataset, ModelWithTree } from "../api/types.ts";
import { moment, number, percent } from "../format.ts";
import { Accuracy } from "../jobs/facts.tsx";
import { Fact } from "../parts/badge.tsx";
import { DeleteButton, ViewHead } from "../parts/head.tsx";
import { Await } from "../parts/states.tsx";
import { EditLabels, Labels } from "../runs/labels.tsx";
import { useResource } from "../state/resource.ts";
import { depthOf, leafCount, proofWords } from "../tree/shape.ts";
import { TreeView } from "../tree/view.tsx";
import { BEYOND_SPACE, REASONS, spaceWords, title } from "../words.ts";
import { Aliases } from "./aliases.tsx";
import { ConfusionMatrix } from "./confusion.tsx";
import { Importances } from "./importances.tsx";

const MAX_CLASSES_IN_A_COLUMN = 5; // larger matrices get a row of their own

export interface Loaded { model: ModelWithTree; dataset: Dataset | undefined }

export async function loadModel(id: string, signal: AbortSignal): Promise<Loaded> {
  const model = await get<ModelWithTree>(`/v1/models/${encodeURIComponent(id)}`, signal);
  return { model, dataset: await getIfFound<Dataset>(`/v1/datasets/${model.dataset_id}`, signal) };
}

export function ModelView({ id }: { id: string }) {
  const loaded = useResource(id, (signal) => loadModel(id, signal));
  const [changed, setChanged] = useState<ModelWithTree>(); // its name, tags or notes
  return (
    <Await from={loaded} what="Loading the model">
      {(value) => <Detail model={changed ?? value.model} dataset={value.dataset} onChange={setChanged} />}
    </Await>
  );
}

function Detail({ model, dataset, onChange }: Loaded & { onChange: (model: ModelWithTree) => void }) {
  const broad = model.tree.classes.labels.length > MAX_CLASSES_IN_A_COLUMN;
  const about = (
    <>
      Created {moment(model.created_at)} by <a href={`#/jobs/${model.job_id}`}>its job</a>
      {dataset && <> from <a href={`#/datasets/${dataset.id}`}>{title(dataset)}</a></>}. {REASONS[model.stop_reason]}.
    </>
  );
  const beside = (
    <>
      <EditLabels kind="models" record={model} onChange={onChange} />
      {model.proven_optimal && <span class="badge good">Proven optimal</span>}
    </>
  );
  return (
    <>
      <ViewHead title={title(model)} list="Models" beside={beside} about={about}>
        <a class="button primary" href={`#/predict/${model.id}`}>Predict</a>
        <DeleteButton kind="model" id={model.id} />
      </ViewHead>
      <section class="panel tree-panel" aria-label="Tree">
        <h2>Tree</h2>
        <TreeView tree={model.tree} dataset={dataset} rowsOf={`/v1/models/${model.id}`} name={title(model)}><span class="quiet">{proofWords(model.tree)}</span></TreeView>
      </section>
      <div class="columns">
        <section class="panel" aria-label="Figures">
          <h2>Figures</h2>
          <ModelFacts model={model} />
          <Accuracy metrics={model.metrics} />
          <p class="quiet note">
            {provenWords(model)}{model.beyond_space && ` ${BEYOND_SPACE}`}
          </p>
        </section>
        <Importances model={model} />
        {!broad && <Confusion model={model} />}
        <Aliases model={model} />
        <Labels kind="models" record={model} onChange={onChange} />
      </div>
      {broad && <Confusion model={model} />}
    </>
  );
}

/** Says what the bounds are about and, for a search of ever wider spaces, what was proven before. */
function provenWords(model: ModelWithTree): string {
  const { space, proven_space: proven } = model;
  if (space === proven || !proven) return `The ${model.proven_optimal ? "proof is" : "bounds are"} about trees over ${spaceWords(space)}.`;
  return `The bounds are about trees over ${spaceWords(space)}. Proven before: the best tree over ${spaceWords(proven)}.`;
}

function Confusion({ model }: { model: ModelWithTree }) {
  return (
    <section class="panel" aria-label="Confusion">
      <h2>Confusion matrix</h2>
      <div class="matrices">
        {model.metrics.validation && <ConfusionMatrix scores={model.metrics.validation} caption="Held-back rows" />}
        <ConfusionMatrix scores={model.metrics.train} caption="Training rows" />
      </div>
    </section>
  );
}

function ModelFacts({ model }: { model: ModelWithTree }) {
  return (
    <dl class="facts">
      <Fact name="Leaves">{leafCount(model.tree)}</Fact>
      <Fact name="Depth">{depthOf(model.tree)}</Fact>
      <Fact name="Cost">{number(model.objective)}</Fact>
      <Fact name="Upper bound">{number(model.upper_bound)}</Fact>
      <Fact name="Lower bound">{number(model.lower_bound)}</Fact>
      <Fact name="Gap">{percent(model.gap_relative)}</Fact>
    </dl>
  );
}
