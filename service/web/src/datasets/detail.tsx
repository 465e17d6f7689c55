// The view of one dataset: columns, classes, warnings, first rows, and what was made of it.
import { useState } from "preact/hooks";
import { get, getAll } from "../api/client.ts";
import type { Dataset, DatasetSummary, Preview, ProblemFix } from "../api/types.ts";
import { bytes, cell, counted } from "../format.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Fixes } from "../parts/fixes.tsx";
import { DeleteButton } from "../parts/delete.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Icon } from "../parts/icons.tsx";
import { Await } from "../parts/states.tsx";
import { keepInLink, place } from "../router.ts";
import { EditLabels } from "../runs/labels.tsx";
import { useResource } from "../state/resource.ts";
import { ClassBars } from "../tree/legend.tsx";
import { UseIt } from "../use/use-it.tsx";
import { title } from "../words.ts";
import { Change } from "./change.tsx";
import { withoutOptions } from "./complaints.ts";
import { Columns } from "./columns.tsx";
import { MadeOf, SameFile } from "./related.tsx";
import { RowsTable } from "./rows.tsx";

export function DatasetView({ id }: { id: string }) {
  const dataset = useResource(id, (signal) => get<Dataset>(`/v1/datasets/${id}`, signal));
  return <Await from={dataset} what="Loading the dataset">{(value) => <Detail key={value.id} dataset={value} reload={dataset.reload} />}</Await>;
}

function Detail({ dataset, reload }: { dataset: Dataset; reload: () => void }) {
  const all = useResource("datasets", (signal) => getAll<DatasetSummary>("/v1/datasets", signal));
  const [change, setChange] = useState(() => linkedChange(dataset));
  const others = all.value ?? [];
  const close = () => {
    setChange(undefined);
    keepInLink({ drop: null });
  };
  return (
    <>
      <ViewHead
        title={title(dataset)} list="Datasets" beside={<EditLabels kind="datasets" record={dataset} onChange={reload} />}
        about={(
          <>
            {counted(dataset.rows, "row")}, {counted(dataset.columns.length, "column")}, {bytes(dataset.bytes)};{" "}
            <span class="id-cell"><code>{dataset.id}</code><CopyButton small label="Copy the id" text={dataset.id} /></span>
          </>
        )}
      >
        <a class="button primary" href={`#/train?dataset=${dataset.id}`}>Train a tree</a>
        <button type="button" onClick={() => setChange({ fix: null })}>Change roles or types</button>
        <DeleteButton kind="dataset" id={dataset.id} />
      </ViewHead>
      <SameFile dataset={dataset} all={all} />
      {dataset.notes && <p class="long-text">{dataset.notes}</p>}
      {change && (
        <Change key={change.fix?.label ?? ""} dataset={dataset} others={others} fix={change.fix} onClose={close} />
      )}
      {!change && <Parts dataset={dataset} onFix={(fix) => setChange({ fix })} />}
    </>
  );
}

/** Returns the change that a link asks for: `drop=zip` leaves out that column. */
function linkedChange(dataset: Dataset): { fix: ProblemFix | null } | undefined {
  const name = place.value.query.get("drop");
  const known = dataset.columns.some((column) => column.name === name && column.role === "feature");
  if (name === null || !known) return undefined;
  return { fix: { label: `Leave out the column ${name}.`, part: "query", options: { drop: [...dataset.dropped, name] } } };
}

function Parts({ dataset, onFix }: { dataset: Dataset; onFix: (fix: ProblemFix) => void }) {
  return (
    <>
      <Warnings dataset={dataset} onFix={onFix} />
      <Classes dataset={dataset} />
      <section class="panel">
        <h2>Columns</h2>
        <Columns dataset={dataset} />
      </section>
      <FirstRows id={dataset.id} />
      <MadeOf dataset={dataset} />
      <UseIt of={{ dataset }} folded />
    </>
  );
}

function Warnings({ dataset, onFix }: { dataset: Dataset; onFix: (fix: ProblemFix) => void }) {
  if (!dataset.warnings.length) return null;
  return (
    <section class="notice warn" aria-label="Warnings about the data">
      <Icon name="warning" />
      <div>
        <ul>{dataset.warnings.map((text) => <li>{withoutOptions(text)}</li>)}</ul>
        {dataset.fixes.length > 0 && <p class="quiet">Each of these makes a new dataset of the same file:</p>}
        <Fixes fixes={dataset.fixes} onFix={onFix} />
      </div>
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

function FirstRows({ id }: { id: string }) {
  const preview = useResource(`${id}/preview`, (signal) => get<Preview>(`/v1/datasets/${id}/preview?rows=8`, signal));
  return (
    <section class="panel">
      <h2>First rows</h2>
      <Await from={preview} what="Loading the first rows">
        {({ columns, records }) => <RowsTable names={columns} rows={records.map((record) => columns.map((name) => record[name]))} />}
      </Await>
    </section>
  );
}
