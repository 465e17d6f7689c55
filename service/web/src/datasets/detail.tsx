// The view of one dataset: columns, classes, warnings and first rows.
import { useState } from "preact/hooks";
import { complaintAt, get, pointerPart, send } from "../api/client.ts";
import type { Dataset, Preview } from "../api/types.ts";
import { bytes, cell, counted } from "../format.ts";
import { DropZone } from "../parts/drop.tsx";
import { DeleteButton, ViewHead } from "../parts/head.tsx";
import { Icon } from "../parts/icons.tsx";
import { Await, Refusal } from "../parts/states.tsx";
import { go } from "../router.ts";
import { useAction } from "../state/action.ts";
import { useResource } from "../state/resource.ts";
import { ClassBars } from "../tree/legend.tsx";
import { UseIt } from "../use/use-it.tsx";
import { title } from "../words.ts";
import { type Change, type Changes, Schema } from "./schema.tsx";
import { PLAIN, upload, uploaded, type UploadOptions } from "./upload.ts";

export function DatasetView({ id }: { id: string }) {
  const dataset = useResource(id, (signal) => get<Dataset>(`/v1/datasets/${id}`, signal));
  return <Await from={dataset} what="Loading the dataset">{(value) => <Detail key={value.id} dataset={value} />}</Await>;
}

function Detail({ dataset }: { dataset: Dataset }) {
  return (
    <>
      <ViewHead
        title={title(dataset)} list="Datasets"
        about={`${counted(dataset.rows, "row")}, ${counted(dataset.columns.length, "column")}, ${bytes(dataset.bytes)}`}
      >
        <a class="button primary" href={`#/train?dataset=${dataset.id}`}>Train a tree</a>
        <DeleteButton kind="dataset" id={dataset.id} text="Jobs that have ended and their models are kept." />
      </ViewHead>
      <Warnings dataset={dataset} />
      <Classes dataset={dataset} />
      <Columns dataset={dataset} />
      <FirstRows id={dataset.id} />
      <UseIt of={{ dataset }} folded />
    </>
  );
}

function Warnings({ dataset }: { dataset: Dataset }) {
  if (!dataset.warnings.length) return null;
  return (
    <section class="notice warn" aria-label="Warnings about the data">
      <Icon name="warning" />
      <ul>{dataset.warnings.map((text) => <li>{text}</li>)}</ul>
    </section>
  );
}

function Classes({ dataset }: { dataset: Dataset }) {
  const bars = dataset.classes.map((entry, index) => ({ index, name: cell(entry.label), weight: entry.count }));
  return (
    <section class="panel">
      <h2>Classes of {dataset.target}</h2>
      <ClassBars bars={bars} most={24} />
      {bars.length > 24 && <p class="quiet">and {bars.length - 24} more</p>}
    </section>
  );
}

/** Returns the upload options with the changes applied. */
function changed(base: UploadOptions, dataset: Dataset, changes: Changes): UploadOptions {
  const options = { ...base, target: dataset.target, weight: dataset.weight, drop: [...dataset.dropped], types: { ...base.types } };
  for (const [name, { role, type }] of Object.entries(changes)) {
    if (type) options.types[name] = type;
    if (!role) continue;
    options.drop = options.drop.filter((other) => other !== name);
    if (options.weight === name) options.weight = null;
    if (role === "drop") options.drop.push(name);
    if (role === "target") options.target = name;
    if (role === "weight") options.weight = name;
  }
  for (const name of options.drop) delete options.types[name];
  if (!changes[options.target]?.type) delete options.types[options.target];  // classes keep their text
  return options;
}

function typesNow(dataset: Dataset): UploadOptions["types"] {
  const features = dataset.columns.filter((column) => column.role === "feature");
  return Object.fromEntries(features.map((column) => [column.name, column.type]));
}

function Columns({ dataset }: { dataset: Dataset }) {
  const [source, setSource] = useState(uploaded.get(dataset.id));
  const [changes, setChanges] = useState<Changes>({});
  const { run, busy, error } = useAction();
  const number = Object.keys(changes).length;

  const change = (name: string, part: Change) => setChanges((old) => {
    const next = { ...old, [name]: { ...old[name], ...part } };
    if (part.role === "target") {  // the former target becomes a feature
      const former = Object.keys(next).find((other) => other !== name && next[other].role === "target") ?? dataset.target;
      if (former !== name) next[former] = { ...next[former], role: "feature" };
    }
    const column = dataset.columns.find((entry) => entry.name === name);
    if (column && (next[name].role ?? column.role) === column.role && (next[name].type ?? column.type) === column.type) delete next[name];
    return next;
  });

  const apply = () => run(async () => {
    const fresh = await upload(source!.file, changed(source!.options, dataset, changes));
    if (fresh.id !== dataset.id) await send("DELETE", `/v1/datasets/${dataset.id}`).catch(() => undefined);
    setChanges({});
    go(`/datasets/${fresh.id}`);
  });

  return (
    <section class="panel">
      <h2>Columns</h2>
      {!source && (
        <div class="row note">
          <span class="quiet">To change roles or types, choose the file again. The server stores only the table, not the file.</span>
          <DropZone
            accept=".csv,.tsv,.txt,.parquet" label="Choose the file"
            onFile={(file) => setSource({ file, options: { ...PLAIN, types: typesNow(dataset) } })}
          />
        </div>
      )}
      <Schema
        dataset={dataset} changes={changes} editable={source !== undefined} onChange={change}
        complaints={(name) => complaintAt(error, `/body/columns/${pointerPart(name)}`)}
      />
      {number > 0 && (
        <div class="row pending" role="status">
          <strong>{counted(number, "column")} changed</strong>
          <span class="quiet">The file will be uploaded again with these roles and types.</span>
          <button type="button" class="primary" disabled={busy} onClick={() => void apply()}>{busy ? "Uploading again…" : "Apply"}</button>
          <button type="button" onClick={() => setChanges({})}>Undo</button>
        </div>
      )}
      <Refusal error={error} placed={["/body/columns"]} />
    </section>
  );
}

function FirstRows({ id }: { id: string }) {
  const preview = useResource(`${id}/preview`, (signal) => get<Preview>(`/v1/datasets/${id}/preview?rows=8`, signal));
  return (
    <section class="panel">
      <h2>First rows</h2>
      <Await from={preview} what="Loading the first rows">
        {(value) => (
          <div class="scroll" role="region" aria-label="First rows" tabIndex={0}>
            <table class="list compact">
              <thead><tr>{value.columns.map((name) => <th scope="col">{name}</th>)}</tr></thead>
              <tbody>
                {value.records.map((record) => (
                  <tr>{value.columns.map((name) => <td class={record[name] === null ? "quiet" : ""}>{cell(record[name])}</td>)}</tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Await>
    </section>
  );
}
