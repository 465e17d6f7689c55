// The columns of a file with their roles and types, before it is uploaded.
import { useState } from "preact/hooks";
import type { ColumnType } from "../api/types.ts";
import { count } from "../format.ts";
import { Select } from "../parts/field.tsx";
import type { Guess } from "./guess.ts";
import { type Role, roleOf, ROLES, TYPES, type UploadOptions, withLeftOut, withRole, withType } from "./options.ts";
import type { Kind } from "./start.ts";

const KINDS: Record<Kind, string> = { ...TYPES, date: "Date or time", unsupported: "Not supported" };
const FILTER_FROM = 20; // columns
const FIRST_SHOWN = 40; // columns
const EXAMPLES = 4; // values

interface Props {
  columns: Guess[];
  options: UploadOptions;
  complaints: (name: string) => string | undefined;
  onChange: (options: UploadOptions) => void;
}

export function ColumnChoices({ columns, options, complaints, onChange }: Props) {
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(FIRST_SHOWN);
  const wanted = filter.trim().toLowerCase();
  const found = columns.filter((column) => column.name.toLowerCase().includes(wanted));
  // In a long list, columns with errors, the first target and columns with remarks come first.
  const [target] = useState(options.target);
  const urgency = ({ name, remark }: Guess) => (complaints(name) ? 3 : name === target ? 2 : remark ? 1 : 0);
  const sorted = columns.length > FILTER_FROM ? [...found].sort((a, b) => urgency(b) - urgency(a)) : found;
  const leaveOut = (out: boolean) => onChange(withLeftOut(options, found.map(({ name }) => name), out));
  return (
    <>
      {columns.length > FILTER_FROM && (
        <div class="row">
          <label for="filter">Find a column</label>
          <input id="filter" type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
          <span class="quiet" role="status">{count(found.length)} of {count(columns.length)} columns</span>
          {wanted && found.length > 0 && (
            <>
              <button type="button" class="small" onClick={() => leaveOut(true)}>Leave out these</button>
              <button type="button" class="small" onClick={() => leaveOut(false)}>Use these as features</button>
            </>
          )}
        </div>
      )}
      <div class="scroll" role="region" aria-label="Columns" tabIndex={0}>
        <table class="list schema choices">
          <thead>
            <tr><th scope="col">Column</th><th scope="col">Role</th><th scope="col">Type</th><th scope="col">First values</th></tr>
          </thead>
          <tbody>
            {sorted.slice(0, most).map((column, i) => (
              <Row key={`${column.name} ${i}`} column={column} options={options} complaint={complaints(column.name)} onChange={onChange} />
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > most && <button type="button" class="small" onClick={() => setMost(10 * most)}>Show more columns</button>}
    </>
  );
}

function Row({ column, options, complaint, onChange }: Omit<Props, "columns" | "complaints"> & { column: Guess; complaint?: string }) {
  const { name, kind, values, remark } = column;
  const role = roleOf(options, name);
  const typed = role === "feature" || role === "target";
  const choose = (next: Role) => {
    const changed = withRole(options, name, next);
    // The server leaves dates out unless they are read as categories.
    onChange(next === "feature" && kind === "date" ? withType(changed, name, "category") : changed);
  };
  return (
    <tr class={complaint ? "wrong" : role === "drop" ? "left-out" : role === "feature" ? undefined : "strong"}>
      <th scope="row">
        {name}
        {complaint && <p class="error">{complaint}</p>}
        {remark && <p class="remark">{remark}</p>}
      </th>
      <td><Select aria-label={`Role of ${name}`} value={role} choices={ROLES} onValue={choose} aria-invalid={complaint && !typed ? true : undefined} /></td>
      <td>
        {!typed ? <span class="quiet">{KINDS[kind]}</span> : (
          <Select<ColumnType | "">
            aria-label={`Type of ${name}`} value={options.types[name] ?? ""} choices={{ "": `${KINDS[kind]} (detected)`, ...TYPES }}
            onValue={(type) => onChange(withType(options, name, type))} aria-invalid={complaint ? true : undefined}
          />
        )}
      </td>
      <td class="quiet values">{values.slice(0, EXAMPLES).join(", ")}{values.length > EXAMPLES && ", …"}</td>
    </tr>
  );
}
