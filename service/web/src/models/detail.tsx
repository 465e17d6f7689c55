// The view of one model: tree, evaluation, use and details.
import { useEffect, useState } from "preact/hooks";
import { get, getIfFound } from "../api/client.ts";
import type { Dataset, ModelWithTree } from "../api/types.ts";
import { moment, number } from "../format.ts";
import { DeleteButton } from "../parts/delete.tsx";
import { Fact } from "../parts/fact.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Await } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Accuracy } from "../quality/accuracy.tsx";
import { Headline } from "../quality/headline.tsx";
import { Notices } from "../quality/notices.tsx";
import { gapWords, lowerBoundWords } from "../quality/sentences.ts";
import { keepInLink, place } from "../router.ts";
import { EditLabels, Labels } from "../runs/labels.tsx";
import { useResource } from "../state/resource.ts";
import { depthOf, leafCount, proofWords } from "../tree/shape.ts";
import { TreeView } from "../tree/view.tsx";
import { Exports } from "../use/exports.tsx";
import { UseIt } from "../use/use-it.tsx";
import { BEYOND_SPACE, REASONS, title } from "../words.ts";
import { About } from "./about.tsx";
import { Aliases } from "./aliases.tsx";

const PARTS = { tree: "Tree", evaluation: "Evaluation", use: "Use it", about: "About" };
type Part = keyof typeof PARTS;

export interface Loaded { model: ModelWithTree; dataset: Dataset | undefined }

export async function loadModel(id: string, signal: AbortSignal): Promise<Loaded> {
  const model = await get<ModelWithTree>(`/v1/models/${encodeURIComponent(id)}`, signal);
  return { model, dataset: await getIfFound<Dataset>(`/v1/datasets/${model.dataset_id}`, signal) };
}

export function ModelView({ id }: { id: string }) {
  const loaded = useResource(id, (signal) => loadModel(id, signal));
  const [changed, setChanged] = useState<ModelWithTree>(); // its name, tags or notes
  useEffect(() => setChanged(undefined), [loaded.value]);
  return (
    <Await from={loaded} what="Loading the model">
      {(value) => <Detail model={changed ?? value.model} dataset={value.dataset} onChange={setChanged} />}
    </Await>
  );
}

function Detail({ model, dataset, onChange }: Loaded & { onChange: (model: ModelWithTree) => void }) {
  const [part, setPart] = useState<Part>(() => {
    const wanted = place.value.query.get("part");
    return wanted && wanted in PARTS ? (wanted as Part) : "tree";
  });
  const choose = (next: Part) => {
    setPart(next);
    keepInLink({ part: next === "tree" ? null : next });
  };
  const about = (
    <>
      Created {moment(model.created_at)} by <a href={`#/jobs/${model.job_id}`}>its job</a>
      {dataset && <> from <a href={`#/datasets/${dataset.id}`}>{title(dataset)}</a></>}. {REASONS[model.stop_reason]}.
    </>
  );
  return (
    <>
      <ViewHead
        title={title(model)} list="Models" about={about} beside={<EditLabels kind="models" record={model} onChange={onChange} />}
      >
        <a class="button primary" href={`#/predict/${model.id}`}>Predict</a>
        <DeleteButton kind="model" id={model.id} />
      </ViewHead>
      <Headline metrics={model.metrics} proof={model} />
      <Notices metrics={model.metrics} jobId={model.job_id} datasetId={model.dataset_id} parameters={model.parameters} />
      <Tabs<Part> label="Parts of the model" names={PARTS} value={part} onValue={choose}>
        {part === "tree" && <TreePart model={model} dataset={dataset} />}
        {part === "evaluation" && <EvaluationPart model={model} dataset={dataset} />}
        {part === "use" && <><UseIt of={{ model, dataset }} /><Exports model={model} /></>}
        {part === "about" && (
          <About model={model} dataset={dataset}><Labels kind="models" record={model} onChange={onChange} /></About>
        )}
      </Tabs>
    </>
  );
}

function TreePart({ model, dataset }: Loaded) {
  return (
    <>
      <section class="panel tree-panel" aria-label="Tree">
        <h2>Tree</h2>
        <TreeView tree={model.tree} dataset={dataset} rowsOf={`/v1/models/${model.id}`} name={title(model)}><span class="quiet">{proofWords(model.tree)}</span></TreeView>
      </section>
      <div class="columns">
        <section class="panel" aria-label="Figures">
          <h2>Figures</h2>
          <dl class="facts">
            <Fact name="Leaves">{leafCount(model.tree)}</Fact>
            <Fact name="Depth">{depthOf(model.tree)}</Fact>
            <Fact name="Cost">{number(model.objective)}</Fact>
            <Fact name="Upper bound">{number(model.upper_bound)}</Fact>
            <Fact name="Lower bound">{lowerBoundWords(model)}</Fact>
            <Fact name="Gap">{gapWords(model)}</Fact>
          </dl>
          <Accuracy metrics={model.metrics} />
          {model.beyond_space && <p class="quiet note">{BEYOND_SPACE}</p>}
        </section>
        <Aliases model={model} />
      </div>
    </>
  );
}

function EvaluationPart(loaded: Loaded) {
  const parts = useResource("parts", () => import("./parts.ts"));
  return <Await from={parts} what="Loading the evaluation">{({ Evaluation }) => <Evaluation {...loaded} />}</Await>;
}
