// A table whose rows can be sorted, filtered, chosen and saved as CSV.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { csvText } from "../csv.ts";
import { count, counted } from "../format.ts";
import { fileName, save } from "../save.ts";
import { Icon } from "./icons.tsx";

const FIRST_SHOWN = 40; // rows

export interface Column<Row> {
  id: string;
  name: string;
  help?: string; // shown when the pointer is over the name
  value?: (row: Row) => string | number | null | undefined; // to sort, to filter and for the CSV file; buttons and pictures have none
  by?: (row: Row) => string | number | null | undefined; // to sort, instead of the value
  cell?: (row: Row) => ComponentChildren; // by default the value
  right?: boolean; // numbers
  descending?: boolean; // the first click sorts from large to small
}

export interface Order { by: string; descending: boolean }

interface Props<Row> {
  label: string;
  noun?: string; // what a row is
  columns: Column<Row>[]; // the first one names the row
  rows: Row[];
  first?: number; // rows that are drawn before the user asks for more
  id: (row: Row) => string;
  order?: Order; // at first
  onOrder?: (order: Order) => void;
  filter?: string; // rows must contain every word of it
  total?: number; // of which `rows` are a part
  chosen?: Set<string>; // with it, each row has a check box
  onChosen?: (chosen: Set<string>) => void;
  rowClass?: (row: Row) => string | undefined;
  saveAs?: string; // with it, a button saves the rows as CSV
  saved?: Column<Row>[]; // the columns of that file, if it has others
}

export function DataTable<Row>(props: Props<Row>) {
  const { label, noun = "row", columns, rows, id, filter = "", total = props.rows.length, chosen, onChosen, rowClass, saveAs, saved = columns } = props;
  const [order, setOrder] = useState<Order | undefined>(props.order);
  const [most, setMost] = useState(props.first ?? FIRST_SHOWN);
  const shown = useMemo(
    () => sorted(matching(rows, (row) => columns.map((column) => column.value?.(row) ?? "").join("\n"), filter), columns, order),
    [rows, columns, filter, order],
  );
  const reorder = (column: Column<Row>) => {
    const same = order?.by === column.id;
    const next = { by: column.id, descending: same ? !order.descending : Boolean(column.descending) };
    setOrder(next);
    props.onOrder?.(next);
  };
  const choose = (ids: string[], on: boolean) => {
    const next = new Set(chosen);
    for (const each of ids) on ? next.add(each) : next.delete(each);
    onChosen?.(next);
  };
  const all = shown.map(id);
  const drawn = shown.slice(0, most);
  return (
    <>
      <div class="scroll" role="region" aria-label={label} tabIndex={0}>
        <table class="list data">
          <thead>
            <tr>
              {chosen && (
                <th scope="col" class="tick">
                  <input
                    type="checkbox" aria-label="Choose all rows" checked={all.length > 0 && all.every((each) => chosen.has(each))}
                    onChange={(event) => choose(all, event.currentTarget.checked)}
                  />
                </th>
              )}
              {columns.map((column) => <Head column={column} order={order} onOrder={() => reorder(column)} />)}
            </tr>
          </thead>
          <tbody>
            {drawn.map((row) => (
              <tr key={id(row)} class={rowClass?.(row)}>
                {chosen && (
                  <td class="tick">
                    <input
                      type="checkbox" aria-label={`Choose ${columns[0].value?.(row) ?? ""}`} checked={chosen.has(id(row))}
                      onChange={(event) => choose([id(row)], event.currentTarget.checked)}
                    />
                  </td>
                )}
                {columns.map((column, i) => {
                  const inside = column.cell ? column.cell(row) : column.value?.(row) ?? "";
                  return i === 0 ? <th scope="row">{inside}</th> : <td class={column.right ? "right" : undefined}>{inside}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="row table-foot">
        <span class="quiet" role="status">
          {shown.length < total && `${count(shown.length)} of `}{counted(total, noun)}
        </span>
        {shown.length > most && <button type="button" class="small" onClick={() => setMost(10 * most)}>Show more</button>}
        {saveAs && (
          <button type="button" class="small push" onClick={() => save(`${fileName(saveAs)}.csv`, "text/csv", tableText(saved, shown))}>CSV</button>
        )}
      </div>
    </>
  );
}

function Head<Row>({ column, order, onOrder }: { column: Column<Row>; order?: Order; onOrder: () => void }) {
  const here = order?.by === column.id;
  if (!column.value) return <th scope="col">{column.name}</th>;
  return (
    <th scope="col" class={column.right ? "right" : undefined} aria-sort={here ? (order.descending ? "descending" : "ascending") : undefined}>
      <button type="button" class="sort" title={column.help} onClick={onOrder}>
        {column.name}{here && <Icon name={order.descending ? "down" : "up"} />}
      </button>
    </th>
  );
}

/** Returns the rows whose text contains every word of the filter. */
export function matching<Row>(rows: Row[], text: (row: Row) => string, filter: string): Row[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return rows;
  return rows.filter((row) => {
    const all = text(row).toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

const COLLATOR = new Intl.Collator("en", { numeric: true });

/** Sorts the rows; those without a value come last in either direction. */
function sorted<Row>(rows: Row[], columns: Column<Row>[], order: Order | undefined): Row[] {
  const column = columns.find((each) => each.id === order?.by);
  if (!column?.value || !order) return rows;
  const sign = order.descending ? -1 : 1;
  const empty = (value: unknown) => value === null || value === undefined || value === "";
  const by = column.by ?? column.value;
  return rows.map((row) => ({ row, value: by(row) })).sort((a, b) => {
    if (empty(a.value) || empty(b.value)) return Number(empty(a.value)) - Number(empty(b.value));
    if (typeof a.value === "number" && typeof b.value === "number") return sign * (a.value - b.value);
    return sign * COLLATOR.compare(String(a.value), String(b.value));
  }).map(({ row }) => row);
}

function tableText<Row>(columns: Column<Row>[], rows: Row[]): string {
  const saved = columns.filter((column) => column.value);
  return csvText([saved.map((column) => column.name), ...rows.map((row) => saved.map((column) => String(column.value!(row) ?? "")))]);
}
