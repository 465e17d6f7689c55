// The dialog that gives an alias to a model, beside the model that has it now.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { complaintAt, get } from "../api/client.ts";
import type { ModelWithTree } from "../api/types.ts";
import { counted, moment, number, orDash, percent } from "../format.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Loading, Refusal } from "../parts/states.tsx";
import { accuracyWords, gapWords } from "../quality/sentences.ts";
import { type DatasetNames, datasetWords } from "../runs/datasets.ts";
import { useAction } from "../state/action.ts";
import { useResource } from "../state/resource.ts";
import { leafCount } from "../tree/shape.ts";
import { title } from "../words.ts";
import { setAlias, useAliases } from "./alias.ts";

interface Props {
  modelId: string;
  alias: string | undefined; // the proposed one; "" asks for any, undefined is not known yet
  datasets: DatasetNames
  focusAfter?: () => HTMLElement | null; // what gets the focus if the button that opened the dialog is gone
  onClose: () => void;
}

interface Line { name: string; of: (model: ModelWithTree, datasets: DatasetNames) => ComponentChildren }

const LINES: Line[] = [
  { name: "Held-back accuracy", of: ({ metrics: { validation: held } }) => (held ? `${accuracyWords(held)} on ${counted(held.rows, "row")}` : "no rows were held back") },
  { name: "Training accuracy", of: ({ metrics }) => orDash(metrics.train_accuracy, percent) },
  { name: "Leaves", of: ({ tree }) => number(leafCount(tree)) },
  { name: "Gap", of: (model) => (model.proven_optimal ? "proven optimal" : gapWords(model)) },
  { name: "Dataset", of: (model, datasets) => datasetWords(datasets, model.dataset_id) },
  { name: "Made", of: ({ created_at: at }) => moment(at) },
];

export function Promote({ modelId, alias: first, datasets, focusAfter, onClose }: Props) {
  const [typed, setTyped] = useState<string>();
  const alias = typed ?? first ?? "";
  const { run, busy, error } = useAction();
  const aliases = useAliases();
  const name = alias.trim();
  const before = aliases.value?.find((each) => each.name === name)?.model_id;
  const mine = before === modelId;
  const ids = before && !mine ? [before, modelId] : [modelId];
  const models = useResource(ids.join(), (signal) => Promise.all(ids.map((id) => get<ModelWithTree>(`/v1/models/${id}`, signal))));
  const act = async () => {
    if (!await run(() => setAlias(name, modelId, before))) return;
    onClose();
    requestAnimationFrame(() => focusAfter?.()?.focus()); // after the dialog is removed
  };
  return (
    <Dialog title={first === "" ? "Set an alias" : "Put in production"} onClose={onClose}>
      <form class="promote" onSubmit={(event) => {
        event.preventDefault();
        void act();
      }}>
        <Field
          name="Alias" error={complaintAt(error, "/path/alias")}
          help="Programs that predict with this alias use the new model from then on. By default each dataset has an alias of its own."
        >
          <input value={alias} list="aliases" autocomplete="off" maxLength={64} onInput={(event) => setTyped(event.currentTarget.value)} />
        </Field>
        <datalist id="aliases">{aliases.value?.map((each) => <option value={each.name} />)}</datalist>
        {!models.value && models.error === undefined && <Loading what="Loading the models" />}
        <Refusal error={models.error ?? aliases.error} />
        {models.value && aliases.value && <Beside models={models.value} datasets={datasets} />}
        <Refusal error={error} placed={["/path/alias"]} />
        {mine && <p class="quiet">This model has the alias {name} already.</p>}
        <div class="row end">
          <button type="button" onClick={onClose}>Go back</button>
          <button class="primary" disabled={busy || !name || mine || !aliases.value || !models.value}>{before && !mine ? "Move the alias" : "Set the alias"}</button>
        </div>
      </form>
    </Dialog>
  );
}

function Beside({ models, datasets }: { models: ModelWithTree[]; datasets: DatasetNames }) {
  const heads = models.length === 2 ? ["Now", "New"] : ["New"];
  const differ = models.length === 2 && models[0].dataset_id !== models[1].dataset_id;
  return (
    <>
      <div class="scroll" role="region" aria-label="Comparison" tabIndex={0}>
        <table class="list beside">
          <thead>
            <tr>
              <th scope="col"><span class="unseen">Figure</span></th>
              {models.map((model, i) => <th scope="col">{heads[i]}: {title(model, datasets.get(model.dataset_id))}</th>)}
            </tr>
          </thead>
          <tbody>
            {LINES.map((line) => (
              <tr key={line.name}><th scope="row">{line.name}</th>{models.map((model) => <td>{line.of(model, datasets)}</td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
      {models.length === 1 && <p class="quiet">No other model has this alias now.</p>}
      {differ && <p class="notice warn">These models were trained on different datasets, so their scores cannot be compared.</p>}
    </>
  );
}
