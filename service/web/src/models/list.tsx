// The list of models.
import { useState } from "preact/hooks";
import { get, getAll, MAX_LISTED } from "../api/client.ts";
import type { AliasList, ModelSummary } from "../api/types.ts";
import { moment, number, orDash, percent } from "../format.ts";
import { ViewHead } from "../parts/head.tsx";
import { Await, Empty, Refusal } from "../parts/states.tsx";
import { useAction } from "../state/action.ts";
import { useResource } from "../state/resource.ts";
import { BEYOND_SPACE, title } from "../words.ts";
import { nameModel, PRODUCTION } from "./aliases.tsx";

export function Models() {
  const models = useResource("models", (signal) => getAll<ModelSummary>("/v1/models", signal));
  const aliases = useResource("aliases", (signal) => get<AliasList>("/v1/models/aliases", signal));
  const [chosen, setChosen] = useState<string[]>([]);
  const { run, error } = useAction();
  const toggle = (id: string) => setChosen((old) => (old.includes(id) ? old.filter((other) => other !== id) : [...old, id].slice(-2)));
  const promote = (id: string) => run(async () => {
    await nameModel(PRODUCTION, id);
    aliases.reload();
  });
  return (
    <>
      <ViewHead title="Models" about="A model is a tree that a job has learned. Choose two models to compare them.">
        {chosen.length === 2 && <a class="button primary" href={`#/compare/${chosen.join("/")}`}>Compare</a>}
        {chosen.length < 2 && (models.value?.length ?? 0) > 1 && <button type="button" disabled>Compare</button>}
      </ViewHead>
      <Refusal error={error} />
      <Await from={models} what="Loading the models">
        {(items) => items.length === 0
          ? <NoModels />
          : (
            <div class="scroll" role="region" aria-label="Models" tabIndex={0}>
              <table class="list">
                <thead>
                  <tr>
                    <th scope="col"><span class="unseen">Compare</span></th><th scope="col">Name</th><th scope="col">Proof</th>
                    <th scope="col" class="right">Cost</th><th scope="col" class="right">Training accuracy</th>
                    <th scope="col" class="right">Held-back accuracy</th><th scope="col">Created</th><th scope="col">Production</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((model) => (
                    <Row
                      key={model.id} model={model} chosen={chosen.includes(model.id)} onChoose={() => toggle(model.id)}
                      names={(aliases.value?.items ?? []).filter((alias) => alias.model_id === model.id).map((alias) => alias.name)}
                      onPromote={() => void promote(model.id)}
                    />
                  ))}
                </tbody>
              </table>
              {items.length >= MAX_LISTED && <p class="quiet">The newest {MAX_LISTED} are shown.</p>}
            </div>
          )}
      </Await>
    </>
  );
}

export function NoModels() {
  return (
    <Empty title="No models yet">
      <p>A job makes a model when it ends or when you finish it.</p>
      <p><a class="button primary" href="#/train">Train a tree</a></p>
    </Empty>
  );
}

function Row(
  { model, chosen, names, onChoose, onPromote }:
  { model: ModelSummary; chosen: boolean; names: string[]; onChoose: () => void; onPromote: () => void },
) {
  return (
    <tr>
      <td><input type="checkbox" checked={chosen} onChange={onChoose} aria-label={`Compare ${title(model)}`} /></td>
      <th scope="row">
        <a href={`#/models/${model.id}`}>{title(model)}</a>
        {names.filter((name) => name !== PRODUCTION).map((name) => <span class="chip">{name}</span>)}
      </th>
      <td>{model.proven_optimal ? <span class="badge good">Proven optimal</span> : <span class="quiet">gap {percent(model.gap_relative)}</span>}</td>
      <td class="right" title={model.beyond_space ? BEYOND_SPACE : undefined}>{number(model.objective)}</td>
      <td class="right">{orDash(model.metrics.train_accuracy, percent)}</td>
      <td class="right">{orDash(model.metrics.validation_accuracy, percent)}</td>
      <td>{moment(model.created_at)}</td>
      <td>
        {names.includes(PRODUCTION)
          ? <span class="badge live">In production</span>
          : <button type="button" class="small" onClick={onPromote} aria-label={`Use ${title(model)} in production`}>Use in production</button>}
      </td>
    </tr>
  );
}
