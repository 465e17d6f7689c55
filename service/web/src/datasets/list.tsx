// The list of datasets, and a drop zone for a new one.
import { useState } from "preact/hooks";
import { getAll, MAX_LISTED } from "../api/client.ts";
import type { DatasetSummary } from "../api/types.ts";
import { bytes, count, moment } from "../format.ts";
import { DropZone } from "../parts/drop.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Await, Empty } from "../parts/states.tsx";
import { useResource } from "../state/resource.ts";
import { title } from "../words.ts";
import { Draft } from "./draft.tsx";

export function Datasets() {
  const datasets = useResource("datasets", (signal) => getAll<DatasetSummary>("/v1/datasets", signal));
  const [file, setFile] = useState<File>();
  return (
    <>
      <ViewHead
        title="Datasets"
        about="A dataset is a table with a column to predict. Types are inferred; you can correct them after the upload."
      />
      {file
        ? <Draft file={file} onCancel={() => setFile(undefined)} />
        : (
          <DropZone accept=".csv,.tsv,.txt,.parquet,text/csv" label="Choose a file" onFile={setFile}>
            <p>or drop a CSV or Parquet file here. It stays on this server.</p>
          </DropZone>
        )}
      <Await from={datasets} what="Loading the datasets">
        {(items) => (items.length === 0 ? <FirstSteps /> : <Table items={items} />)}
      </Await>
    </>
  );
}

function FirstSteps() {
  return (
    <Empty title="No datasets yet">
      <p>Literati finds small decision trees and proves that they are optimal. It takes three steps:</p>
      <ol class="first-steps">
        <li><strong>Upload a table above.</strong> Its first line has the column names. Choose the column to predict.</li>
        <li><strong>Train.</strong> Follow the best tree so far and its bounds until it is proven optimal.</li>
        <li><strong>Predict.</strong> Enter a row or upload many, and see the path of each row through the tree.</li>
      </ol>
    </Empty>
  );
}

function Table({ items }: { items: DatasetSummary[] }) {
  return (
    <div class="scroll apart" role="region" aria-label="Datasets" tabIndex={0}>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Name</th><th scope="col">Target</th><th scope="col" class="right">Classes</th>
            <th scope="col" class="right">Rows</th><th scope="col" class="right">Columns</th>
            <th scope="col" class="right">Size</th><th scope="col">Added</th><th scope="col"><span class="unseen">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.id}>
              <th scope="row"><a href={`#/datasets/${item.id}`}>{title(item)}</a></th>
              <td>{item.target}</td>
              <td class="right">{item.n_classes}</td>
              <td class="right">{count(item.rows)}</td>
              <td class="right">{count(item.n_columns)}</td>
              <td class="right">{bytes(item.bytes)}</td>
              <td>{moment(item.created_at)}</td>
              <td class="right"><a class="button small" href={`#/train?dataset=${item.id}`} aria-label={`Train on ${title(item)}`}>Train</a></td>
            </tr>
          ))}
        </tbody>
      </table>
      {items.length >= MAX_LISTED && <p class="quiet">The newest {MAX_LISTED} are shown.</p>}
    </div>
  );
}
