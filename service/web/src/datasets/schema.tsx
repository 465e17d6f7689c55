// The table of a dataset's columns, with roles and types that can be changed.
import { useState } from "preact/hooks";
import type { ColumnInfo, ColumnType, Dataset } from "../api/types.ts";
import { count, number } from "../format.ts";
import { Select } from "../parts/field.tsx";
import { Histogram } from "../parts/histogram.tsx";

type RoleChoice = ColumnInfo["role"] | "drop";
export interface Change { role?: RoleChoice; type?: ColumnType }
export type Changes = Record<string, Change>;

const ROLES: Record<RoleChoice, string> = {
  feature: "Feature", target: "Target", weight: "Row weight", drop: "Left out",
};
const TYPES: Record<ColumnType, string> = { number: "Number", category: "Category", boolean: "True or false" };

interface Props {
  dataset: Dataset;
  changes: Changes;
  editable: boolean;
  complaints: (name: string) => string | undefined;
  onChange: (name: string, change: Change) => void;
}

const MAX_ROWS = 100; // shown at once; use the filter for others

export function Schema({ dataset, changes, editable, complaints, onChange }: Props) {
  const [filter, setFilter] = useState("");
  const wide = dataset.columns.length > 30;
  const found = dataset.columns.filter((column) => column.name.toLowerCase().includes(filter.trim().toLowerCase()));
  // The target, changed columns and columns with errors come first.
  const urgent = (column: ColumnInfo) => Number(column.role !== "feature" || column.name in changes || complaints(column.name) !== undefined);
  const shown = wide ? [...found].sort((a, b) => urgent(b) - urgent(a)).slice(0, MAX_ROWS) : found;
  return (
    <>
      {wide && (
        <p class="row">
          <label for="filter">Find a column</label>
          <input id="filter" type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
          <span class="quiet">{count(shown.length)} of {count(dataset.columns.length)} shown</span>
        </p>
      )}
      <div class="scroll" role="region" aria-label="Columns" tabIndex={0}>
        <table class="list schema">
          <thead>
            <tr>
              <th scope="col">Column</th><th scope="col">Role</th><th scope="col">Type</th>
              <th scope="col" class="right">Missing</th><th scope="col" class="right">Distinct</th>
              <th scope="col">Distribution</th><th scope="col">Range or values</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((column) => (
              <Row
                key={column.name} column={column} rows={dataset.rows} change={changes[column.name] ?? {}}
                editable={editable} complaint={complaints(column.name)} onChange={onChange}
              />
            ))}
            {dataset.dropped.map((name) => (
              <tr key={name} class="left-out">
                <th scope="row">{name}</th>
                <td>
                  <Choice
                    label={`Role of ${name}`} value={changes[name]?.role ?? "drop"} choices={ROLES} editable={editable}
                    onValue={(role) => onChange(name, { role })}
                  />
                </td>
                <td colSpan={5} class="quiet">Left out</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface RowProps {
  column: ColumnInfo;
  rows: number;
  change: Change;
  editable: boolean;
  complaint: string | undefined;
  onChange: Props["onChange"];
}

function Row({ column, rows, change, editable, complaint, onChange }: RowProps) {
  return (
    <tr class={change.role || change.type ? "changed" : undefined}>
      <th scope="row">
        {column.name}
        {complaint && <p class="error">{complaint}</p>}
      </th>
      <td>
        <Choice
          label={`Role of ${column.name}`} value={change.role ?? column.role} choices={ROLES} editable={editable}
          onValue={(role) => onChange(column.name, { role })}
        />
      </td>
      <td>
        <Choice
          label={`Type of ${column.name}`} value={change.type ?? column.type} choices={TYPES} editable={editable}
          onValue={(type) => onChange(column.name, { type })}
        />
      </td>
      <td data-name="Missing" class={column.missing ? "right" : "right quiet"}>
        {column.missing ? `${count(column.missing)} (${Math.max(1, Math.round((100 * column.missing) / rows))} %)` : "none"}
      </td>
      <td data-name="Distinct" class="right">{column.distinct == null ? "" : count(column.distinct)}</td>
      <td class={`spread ${change.role ?? column.role}`}><Histogram column={column} /></td>
      <td class="quiet values">{valuesOf(column)}</td>
    </tr>
  );
}

function Choice<Value extends string>(
  { label, value, choices, editable, onValue }:
  { label: string; value: Value; choices: Record<Value, string>; editable: boolean; onValue: (value: Value) => void },
) {
  return editable ? <Select aria-label={label} value={value} choices={choices} onValue={onValue} /> : <>{choices[value]}</>;
}

function valuesOf(column: ColumnInfo): string {
  if (column.type === "number") {
    return column.minimum == null ? "" : `${number(column.minimum)} to ${number(column.maximum ?? column.minimum)}`;
  }
  const shown = (column.categories ?? []).slice(0, 6).map(String);
  const more = (column.distinct ?? shown.length) - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${count(more)} more` : "");
}
