// The aliases of a model.
import { useRef, useState } from "preact/hooks";
import type { Alias, ModelWithTree } from "../api/types.ts";
import { IconButton } from "../parts/icons.tsx";
import { Await, Refusal } from "../parts/states.tsx";
import { useDatasetNames } from "../runs/datasets.ts";
import { useAction } from "../state/action.ts";
import { removeAlias, useAliases, usualAlias } from "./alias.ts";
import { Promote } from "./promote.tsx";

export function Aliases({ model }: { model: ModelWithTree }) {
  const aliases = useAliases();
  return (
    <section class="panel" aria-label="Aliases">
      <h2>Aliases</h2>
      <p class="quiet">A program can predict with an alias instead of the model's id. An alias can be moved to another model at any time.</p>
      <Await from={aliases} what="Loading the aliases">
        {(all) => <OfModel model={model} mine={all.filter((alias) => alias.model_id === model.id)} />}
      </Await>
    </section>
  );
}

function OfModel({ model, mine }: { model: ModelWithTree; mine: Alias[] }) {
  const [given, setGiven] = useState<string>(); // the alias of the open dialog; "": another one
  const list = useRef<HTMLUListElement>(null);
  const { run, error } = useAction();
  const datasets = useDatasetNames();
  const usual = usualAlias(datasets, model.dataset_id);
  const remove = async (alias: Alias) => {
    if (await run(() => removeAlias(alias.name, model.id))) list.current?.focus(); // its button is gone
  };
  return (
    <>
      <ul class="chips" ref={list} tabIndex={-1} aria-label="Aliases of this model">
        {mine.map((alias) => (
          <li class="chip" key={alias.name}>
            {alias.name}
            <IconButton name="close" label={`Remove the alias ${alias.name}`} onClick={() => void remove(alias)} />
          </li>
        ))}
        {mine.length === 0 && <li class="quiet">None</li>}
      </ul>
      <div class="row">
        {usual !== undefined && !mine.some((alias) => alias.name === usual) && (
          <button type="button" class="primary" onClick={() => setGiven(usual)}>Put in production</button>
        )}
        <button type="button" onClick={() => setGiven("")}>Set another alias</button>
      </div>
      <Refusal error={error} />
      {given !== undefined && (
        <Promote
          modelId={model.id} alias={given} datasets={datasets} focusAfter={() => list.current} onClose={() => setGiven(undefined)}
        />
      )}
    </>
  );
}
