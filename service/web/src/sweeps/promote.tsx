// Gives the model of a sweep a name that programs use.
import { useState } from "preact/hooks";
import { complaintAt, get, getIfFound, send } from "../api/client.ts";
import type { Alias, AliasList, Dataset } from "../api/types.ts";
import { nameModel } from "../models/aliases.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Refusal } from "../parts/states.tsx";
import { useAction } from "../state/action.ts";
import { useResource } from "../state/resource.ts";
import { offerUndo } from "../state/undo.ts";

/** Returns a name for the model in use of a dataset, such as `loans.production`. */
function usualName(dataset: string | null | undefined): string {
  const plain = (dataset ?? "").toLowerCase().replace(/\.\w+$/, "").replace(/[^a-z0-9_-]+/g, "-").replace(/^[-_]+|-+$/g, "").slice(0, 40);
  return plain ? `${plain}.production` : "production";
}

export function Promote({ modelId, datasetId, onClose }: { modelId: string; datasetId: string; onClose: () => void }) {
  const dataset = useResource(`dataset ${datasetId}`, (signal) => getIfFound<Dataset>(`/v1/datasets/${datasetId}`, signal));
  const aliases = useResource("aliases", (signal) => get<AliasList>("/v1/models/aliases", signal));
  const [typed, setTyped] = useState<string | null>(null);
  const { run, busy, error } = useAction();
  const alias = (typed ?? usualName(dataset.value?.name)).trim();
  const before = aliases.value?.items.find((each: Alias) => each.name === alias);
  const promote = () => run(async () => {
    await nameModel(alias, modelId);
    onClose();
    offerUndo(`The name ${alias} now means this model.`, () =>
      before ? nameModel(alias, before.model_id) : send("DELETE", `/v1/models/aliases/${encodeURIComponent(alias)}`));
  });
  const help = before?.model_id === modelId ? "This model has this name already."
    : before ? "Another model has this name now. The name is moved to this model, and you can undo that."
    : "No model has this name yet.";
  return (
    <Dialog title="Promote the model" onClose={onClose}>
      <form onSubmit={(event) => {
        event.preventDefault();
        void promote();
      }}>
        <p>Programs can predict with a name instead of the model's id, and you can move the name to a better model later.</p>
        <Field name="Name" help={aliases.value && help} error={complaintAt(error, "/path/alias") ?? complaintAt(error, "/body")}>
          <input value={typed ?? alias} autocomplete="off" spellcheck={false} onInput={(event) => setTyped(event.currentTarget.value)} />
        </Field>
        <Refusal error={error} placed={["/path/alias", "/body"]} />
        <div class="row end">
          <button type="button" onClick={onClose}>Go back</button>
          <button class="primary" disabled={busy || !alias}>Promote</button>
        </div>
      </form>
    </Dialog>
  );
}
