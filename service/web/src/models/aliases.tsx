// The aliases of a model.
import { useState } from "preact/hooks";
import type { ModelWithTree } from "../api/types.ts";
import { IconButton } from "../parts/icons.tsx";
import { Refusal } from "../parts/states.tsx";
import { useDatasetNames } from "../runs/datasets.ts";
import { useAction } from "../state/action.ts";
import { useResource } from "../state/resource.ts";
import { useSignal } from "../state/signal.ts";
import { aliasChanges, productionAlias, readAliases, removeAlias } from "./alias.ts";
import { Promote } from "./promote.tsx";

/** The aliases of all models, which are loaded again when one was changed. */
export function useAliases() {
  const change = useSignal(aliasChanges);
  return useResource(`aliases ${change}`, readAliases);
}

export function Aliases({ model }: { model: ModelWithTree }) {
  const [given, setGiven] = useState<"usual" | "other">(); // the alias of the open dialog
  const { run, error } = useAction();
  const aliases = useAliases();
  const datasets = useDatasetNames();
  const usual = productionAlias(datasets.get(model.dataset_id));
  const mine = (aliases.value ?? []).filter((alias) => alias.model_id === model.id);
  return (
    <section class="panel" aria-label="Aliases">
      <h2>Aliases</h2>
      <p class="quiet">A program can predict with an alias instead of the model's id. An alias can be moved to another model at any time.</p>
      <ul class="chips">
        {mine.map((alias) => (
          <li class="chip" key={alias.name}>
            {alias.name}
            <IconButton name="close" label={`Remove the alias ${alias.name}`} onClick={() => void run(() => removeAlias(alias.name, model.id))} />
          </li>
        ))}
        {mine.length === 0 && <li class="quiet">None</li>}
      </ul>
      <div class="row">
        {!mine.some((alias) => alias.name === usual) && (
          <button type="button" class="primary" onClick={() => setGiven("usual")}>Put in production</button>
        )}
        <button type="button" onClick={() => setGiven("other")}>Set another alias</button>
      </div>
      <Refusal error={error} />
      {given !== undefined && <Promote modelId={model.id} alias={given === "usual" ? usual : ""} datasets={datasets} onClose={() => setGiven(undefined)} />}
    </section>
  );
}
