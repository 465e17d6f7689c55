// The columns of a dataset with their distributions.
import { useMemo, useState } from "preact/hooks";
import type { ColumnInfo, Dataset } from "../api/types.ts";
import { count, number } from "../format.ts";
import { Histogram } from "../parts/histogram.tsx";
import { type Column, DataTable } from "../parts/table.tsx";
import { ROLES, TYPES } from "./options.ts";

const FILTER_FROM = 20; // columns
const FIRST_SHOWN = 40; // columns
const ORDER = { target: 0, weight: 1, feature: 2 }; // in a long table the target comes first

export function Columns({ dataset }: { dataset: Dataset }) {
  const [filter, setFilter] = useState("");
  const long = dataset.columns.length > FILTER_FROM;
  const rows = useMemo(
    () => (long ? [...dataset.columns].sort((a, b) => ORDER[a.role] - ORDER[b.role]) : dataset.columns), [dataset],
  );
  const columns = useMemo(() => columnsOf(dataset.rows), [dataset]);
  return (
    <>
      {long && (
        <p class="row">
          <label for="filter">Find a column</label>
          <input id="filter" type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        </p>
      )}
      <DataTable
        label="Columns" noun="column" columns={columns} rows={rows} id={(column) => column.name} filter={filter} first={FIRST_SHOWN}
        saveAs={`${dataset.name ?? "dataset"} columns`}
      />
      {dataset.dropped.length > 0 && <p class="quiet dropped">Left out: {dataset.dropped.join(", ")}</p>}
    </>
  );
}

function columnsOf(rows: number): Column<ColumnInfo>[] {
  return [
    { id: "name", name: "Column", value: ({ name }) => name },
    { id: "role", name: "Role", value: ({ role }) => ROLES[role] },
    { id: "type", name: "Type", value: ({ type }) => TYPES[type] },
    {
      id: "missing", name: "Missing", right: true, descending: true, value: ({ missing }) => missing,
      cell: ({ missing }) => (missing ? `${count(missing)} (${Math.max(1, Math.round((100 * missing) / rows))} %)` : <span class="quiet">none</span>),
    },
    {
      id: "distinct", name: "Distinct", right: true, descending: true, value: ({ distinct }) => distinct,
      cell: ({ distinct }) => (distinct == null ? "" : count(distinct)),
    },
    { id: "spread", name: "Distribution", cell: (column) => <span class={`spread ${column.role}`}><Histogram column={column} /></span> },
    { id: "values", name: "Range or values", value: valuesOf, cell: (column) => <span class="quiet values">{valuesOf(column)}</span> },
  ];
}

function valuesOf(column: ColumnInfo): string {
  if (column.type === "number") {
    return column.minimum == null ? "" : `${number(column.minimum)} to ${number(column.maximum ?? column.minimum)}`;
  }
  const shown = (column.categories ?? []).slice(0, 6).map(String);
  const more = (column.distinct ?? shown.length) - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${count(more)} more` : "");
}
