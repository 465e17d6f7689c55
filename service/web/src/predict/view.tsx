// The predict view: one row from a form, or many rows from a file.
import { useState } from "preact/hooks";
import { getAll } from "../api/client.ts";
import type { ModelSummary } from "../api/types.ts";
import { NoModels } from "../models/no-models.tsx";
import { Choice } from "../parts/choice.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Await } from "../parts/states.tsx";
import { go, keepInLink, place } from "../router.ts";
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
  const [rows, setRows] = useState<"one" | "many">(() => (place.value.query.get("rows") === "many" ? "many" : "one"));
  const choose = (next: "one" | "many") => {
    setRows(next);
    keepInLink({ rows: next === "many" ? next : null });
  };
  return (
    <>
      <div class="row">
        {kind === "model" && <Chooser id={id} name={source.value?.name} />}
        {source.value && <a href={source.value.address}>{kind === "model" ? "Open the model" : source.value.name}</a>}
        {source.value && (
          <span class="push"><Choice label="How many rows" choices={{ one: "One row", many: "Many rows" }} value={rows} onValue={choose} /></span>
        )}
      </div>
      <Await from={source} what="Loading the model">
        {(value) => (rows === "many" ? <ManyRows source={value} /> : <OneRow source={value} />)}
      </Await>
    </>
  );
}
