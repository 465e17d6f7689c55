// The list of datasets, and a drop zone for a new one.
import { useState } from "preact/hooks";
import { getAll, MAX_LISTED } from "../api/client.ts";
import type { DatasetSummary } from "../api/types.ts";
import { bytes, count, moment } from "../format.ts";
import { DropZone } from "../parts/drop.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Await, Empty } from "../parts/states.tsx";
import { type Column, DataTable } from "../parts/table.tsx";
import { keepInLink, place } from "../router.ts";
import { changes } from "../state/removal.ts";
import { useResource } from "../state/resource.ts";
import { useSignal } from "../state/signal.ts";
import { title } from "../words.ts";
import { Draft } from "./draft.tsx";
import { SampleButton } from "./sample.tsx";

export function Datasets() {
  const deletions = useSignal(changes);
  const datasets = useResource(`datasets ${deletions}`, (signal) => getAll<DatasetSummary>("/v1/datasets", signal));
  const [file, setFile] = useState<File>();
  return (
    <>
      <ViewHead title="Datasets" about="A dataset is a table with a column to predict." />
      {file
        ? <Draft key={file.name + file.lastModified} file={file} others={datasets.value ?? []} onCancel={() => setFile(undefined)} />
        : (
          <DropZone accept=".csv,.tsv,.txt,.parquet,text/csv" label="Choose a file" onFile={setFile}>
            <p>or drop a CSV or Parquet file here. It stays on this server.</p>
          </DropZone>
        )}
      <Await from={datasets} what="Loading the datasets">
        {(items) => (items.length > 0 ? <Table items={items} /> : !file && (
          <Empty title="No datasets yet">
            <p>The sample data are 600 loans, of which some were not repaid.</p>
            <SampleButton />
          </Empty>
        ))}
      </Await>
    </>
  );
}

const COLUMNS: Column<DatasetSummary>[] = [
  { id: "name", name: "Name", value: title, cell: (item) => <a href={`#/datasets/${item.id}`} title={title(item)}>{title(item)}</a> },
  { id: "target", name: "Target", value: ({ target }) => target, cell: ({ target }) => <span class="short-text" title={target}>{target}</span> },
  { id: "classes", name: "Classes", value: (item) => item.n_classes, cell: (item) => count(item.n_classes), right: true },
  { id: "rows", name: "Rows", value: ({ rows }) => rows, cell: ({ rows }) => count(rows), right: true, descending: true },
  { id: "columns", name: "Columns", value: (item) => item.n_columns, cell: (item) => count(item.n_columns), right: true, descending: true },
  { id: "size", name: "Size", value: (item) => item.bytes, cell: (item) => bytes(item.bytes), right: true, descending: true },
  { id: "added", name: "Added", value: (item) => item.created_at, cell: (item) => moment(item.created_at), descending: true },
  { id: "notes", name: "Notes", value: ({ notes }) => notes, cell: ({ notes }) => <span class="quiet short-text" title={notes ?? undefined}>{notes}</span> },
  {
    id: "train", name: "Train",
    cell: (item) => <a class="button small" href={`#/train?dataset=${item.id}`} aria-label={`Train on ${title(item)}`}>Train</a>,
  },
];

function Table({ items }: { items: DatasetSummary[] }) {
  const [filter, setFilter] = useState(place.value.query.get("find") ?? "");
  const find = (text: string) => {
    setFilter(text);
    keepInLink({ find: text || null });
  };
  return (
    <div class="apart">
      {items.length > 5 && (
        <p class="row">
          <label for="filter">Find a dataset</label>
          <input id="filter" type="search" value={filter} onInput={(event) => find(event.currentTarget.value)} />
        </p>
      )}
      <DataTable label="Datasets" noun="dataset" columns={COLUMNS} rows={items} id={({ id }) => id} filter={filter} saveAs="datasets" />
      {items.length >= MAX_LISTED && <p class="quiet">The newest {MAX_LISTED} are shown.</p>}
    </div>
  );
}
