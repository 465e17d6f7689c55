// The first rows of a table.
import { cell, count } from "../format.ts";

const MAX_COLUMNS = 60; // that are drawn

export function RowsTable({ names, rows }: { names: string[]; rows: unknown[][] }) {
  const shown = names.slice(0, MAX_COLUMNS);
  return (
    <>
      <div class="scroll" role="region" aria-label="First rows" tabIndex={0}>
        <table class="list compact rows">
          <thead><tr>{shown.map((name) => <th scope="col">{name}</th>)}</tr></thead>
          <tbody>
            {rows.map((row) => (
              <tr>{shown.map((_, i) => <td class={row[i] == null ? "quiet" : undefined}>{cell(row[i])}</td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
      {names.length > MAX_COLUMNS && <p class="quiet">The first {MAX_COLUMNS} of {count(names.length)} columns are shown.</p>}
    </>
  );
}
