// The view of one dataset: columns, classes, warnings and first rows.
import { useState } from "preact/hooks";
import { complaintAt, get, pointerPart, send } from "../api/client.ts";
import type { Dataset, Preview } from "../api/types.ts";
import { bytes, cell, count, counted, percent } from "../format.ts";
import { Confirm } from "../parts/dialog.tsx";
import { DropZone } from "../parts/drop.tsx";
import { Await, Refusal } from "../parts/states.tsx";
import { Icon } from "../parts/icons.tsx";
import { go } from "../router.ts";
import { useResource } from "../state/resource.ts";
import { title } from "../words.ts";
import { type Change, type Changes, Schema } from "./schema.tsx";
import { PLAIN, upload, uploaded, type UploadOptions } from "./upload.ts";

export function DatasetView({ id }: { id: string }) {
  const dataset = useResource(id, (signal) => get<Dataset>(`/v1/datasets/${id}`, signal));
  return <Await from={dataset} what="Loading the dataset">{(value) => <Detail key={value.id} dataset={value} />}</Await>;
}

function Detail({ dataset }: { dataset: Dataset }) {
  const [deleting, setDeleting] = useState(false);
  const [error, setError] = useState<unknown>();
  const remove = async () => {
    setDeleting(false);
    try {
      await send("DELETE", `/v1/datasets/${dataset.id}`);
      go("/datasets");
    } catch (refused) {
      setError(refused);
    }
  };
  return (
    <>
      <header class="view-head">
        <nav class="crumbs" aria-label="Breadcrumb"><a href="#/datasets">Datasets</a></nav>
        <h1 tabIndex={-1}>{title(dataset)}</h1>
        <p class="quiet">
          {counted(dataset.rows, "row")}, {counted(dataset.columns.length, "column")}, {bytes(dataset.bytes)}
        </p>
        <div class="row actions">
          <a class="button primary" href={`#/train?dataset=${dataset.id}`}>Train a tree</a>
          <button type="button" onClick={() => setDeleting(true)}>Delete</button>
        </div>
      </header>
      <Refusal error={error} />
      {deleting && (
        <Confirm
          title="Delete this dataset?" text="Jobs that have ended and their models are kept." yes="Delete"
          onYes={() => void remove()} onNo={() => setDeleting(false)}
        />
      )}
      <Warnings dataset={dataset} />
      <Classes dataset={dataset} />
      <Columns dataset={dataset} />
      <FirstRows id={dataset.id} />
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
  const most = Math.max(...dataset.classes.map((entry) => entry.count));
  const total = dataset.classes.reduce((sum, entry) => sum + entry.count, 0);
  return (
    <section class="panel">
      <h2>Classes of {dataset.target}</h2>
      <ul class="class-bars">
        {dataset.classes.slice(0, 24).map((entry, k) => (
          <li>
            <span class="name">{cell(entry.label)}</span>
            <span class="bar"><span class={`fill class${k % 12}`} style={{ width: `${(100 * entry.count) / most}%` }} /></span>
            <span class="figure">{count(entry.count)} <span class="quiet">{percent(entry.count / total)}</span></span>
          </li>
        ))}
      </ul>
      {dataset.classes.length > 24 && <p class="quiet">and {dataset.classes.length - 24} more</p>}
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
  const [error, setError] = useState<unknown>();
  const [sending, setSending] = useState(false);
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

  const apply = async () => {
    setSending(true);
    setError(undefined);
    try {
      const fresh = await upload(source!.file, changed(source!.options, dataset, changes));
      if (fresh.id !== dataset.id) await send("DELETE", `/v1/datasets/${dataset.id}`).catch(() => undefined);
      setChanges({});
      go(`/datasets/${fresh.id}`);
    } catch (refused) {
      setError(refused);
    } finally {
      setSending(false);
    }
  };

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
          <button type="button" class="primary" disabled={sending} onClick={() => void apply()}>{sending ? "Reading again…" : "Apply"}</button>
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
      <Await from={preview} what="Reading rows">
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
