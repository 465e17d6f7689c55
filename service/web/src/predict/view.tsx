// The predict view: one row from a form, or many rows from a file.
import { useState } from "preact/hooks";
import { getAll } from "../api/client.ts";
import type { ModelSummary } from "../api/types.ts";
import { NoModels } from "../models/list.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Await } from "../parts/states.tsx";
import { go } from "../router.ts";
import { useResource } from "../state/resource.ts";
import { title } from "../words.ts";
import { ManyRows } from "./many.tsx";
import { OneRow } from "./one.tsx";
import { sourceOf } from "./source.ts";

export function Predict({ path }: { path: string[] }) {
  const [kind, id] = path[0] === "job" ? (["job", path[1]] as const) : (["model", path[0]] as const);
  return (
    <>
      <ViewHead title="Predict" />
      {kind === "model" && !id && <Chooser />}
      {id && <Loaded key={`${kind} ${id}`} kind={kind} id={id} />}
    </>
  );
}

function Chooser({ id, name }: { id?: string; name?: string }) {
  const models = useResource("models", (signal) => getAll<ModelSummary>("/v1/models", signal, 200));
  return (
    <Await from={models} what="Loading the models">
      {(items) => items.length === 0 && !id
        ? <NoModels />
        : (
          <div class="row">
            <label for="predict-model">Model</label>
            <select id="predict-model" value={id ?? ""} onChange={(event) => go(`/predict/${event.currentTarget.value}`)}>
              {!id && <option value="">Choose one</option>}
              {id && !items.some((model) => model.id === id) && <option value={id}>{name ?? id}</option>}
              {items.map((model) => <option value={model.id}>{title(model)}</option>)}
            </select>
          </div>
        )}
    </Await>
  );
}

function Loaded({ kind, id }: { kind: "model" | "job"; id: string }) {
  const source = useResource(`${kind} ${id}`, (signal) => sourceOf(kind, id, signal));
  const [many, setMany] = useState(false);
  return (
    <>
      <div class="row">
        {kind === "model" && <Chooser id={id} name={source.value?.name} />}
        {source.value && <a href={source.value.address}>{kind === "model" ? "Open the model" : source.value.name}</a>}
        {source.value && (
          <div class="tabs push" role="group" aria-label="How many rows">
            <button type="button" aria-pressed={!many} onClick={() => setMany(false)}>One row</button>
            <button type="button" aria-pressed={many} onClick={() => setMany(true)}>Many rows</button>
          </div>
        )}
      </div>
      <Await from={source} what="Loading the model">
        {(value) => (many ? <ManyRows source={value} /> : <OneRow source={value} />)}
      </Await>
    </>
  );
}
