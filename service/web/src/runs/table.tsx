// A table of jobs, sweeps or models with search, filters and a choice of columns, which the link keeps.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { count } from "../format.ts";
import { type Column, DataTable, matching } from "../parts/table.tsx";
import { type DatasetNames, datasetWords } from "./datasets.ts";
import { ColumnMenu } from "./column-menu.tsx";
import { orderOf, orderText, useLinked } from "./linked.ts";
import { MAX_RECORDS } from "./records.ts";

const LONG = /\S{6}/; // shorter words would be part of many ids

interface Run { id: string; dataset_id: string }

interface Props<Row extends Run> {
  plural: "jobs" | "sweeps" | "models";
  prefix?: string; // of the entries in the link, if a view has two tables
  rows: Row[];
  complete: boolean; // otherwise there are more on the server
  columns: Column<Row>[]; // all that there are; the first one is always shown
  shown: string[]; // the columns that are shown at first
  state: (row: Row) => { code: string; words: string };
  datasets: DatasetNames;
  text: (row: Row) => string; // what the search looks at
  chosen: Set<string>;
  onChosen: (chosen: Set<string>) => void;
  actions: (hidden: number) => ComponentChildren; // for the chosen rows, of which some may be hidden
  children?: ComponentChildren; // more controls
}

export function RunsTable<Row extends Run>(props: Props<Row>) {
  const { plural, prefix = "", rows, complete, columns, shown, state, datasets, text, chosen, onChosen, actions } = props;
  const [words, setWords] = useLinked(`${prefix}q`);
  const [code, setCode] = useLinked(`${prefix}state`);
  const [dataset, setDataset] = useLinked(`${prefix}dataset`);
  const [sort, setSort] = useLinked(`${prefix}sort`);
  const [picked, setPicked] = useLinked(`${prefix}columns`);
  const states = useMemo(() => new Map(rows.map((row) => [state(row).code, state(row).words])), [rows]);
  const used = useMemo(() => new Map(rows.map((row) => [row.dataset_id, datasetWords(datasets, row.dataset_id)])), [rows, datasets]);
  const found = useMemo(() => {
    const some = rows.filter((row) => (!code || state(row).code === code) && (!dataset || row.dataset_id === dataset));
    return matching(some, LONG.test(words) ? (row) => `${text(row)}\n${row.id}` : text, words);
  }, [rows, text, words, code, dataset]);
  const ids = useMemo(() => (picked ? picked.split(",") : shown), [picked, shown.join()]);
  const drawn = useMemo(() => columns.filter((column, i) => i === 0 || ids.includes(column.id)), [columns, ids]);
  const visible = useMemo(() => new Set(found.map((row) => row.id)), [found]);
  const hidden = rows.filter((row) => chosen.has(row.id) && !visible.has(row.id)).length;
  return (
    <>
      <div class="row run-tools">
        <input
          type="search" class="run-search" placeholder={`Search the ${plural}`} aria-label={`Search the ${plural}`} value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <Filter name="State" all="All states" value={code} choices={states} onValue={setCode} />
        <Filter name="Dataset" all="All datasets" value={dataset} choices={used} onValue={setDataset} />
        <ColumnMenu columns={columns.slice(1)} shown={ids} onShown={(next) => setPicked(next?.join() ?? "")} />
        {props.children}
      </div>
      {actions(hidden)}
      {found.length === 0
        ? (
          <p class="quiet none-found" role="status">
            {rows.length ? `None of the ${count(rows.length)} ${plural} matches the search and the filters.` : `There are no ${plural} that have ended.`}
          </p>
        )
        : (
          <DataTable
            label={`Table of ${plural}`} columns={drawn} rows={found} id={(row) => row.id} total={rows.length} noun={plural.slice(0, -1)}
            order={orderOf(sort || "-created")} onOrder={(order) => setSort(orderText(order))}
            chosen={chosen} onChosen={onChosen} saveAs={plural} saved={columns}
          />
        )}
      {!complete && rows.length >= MAX_RECORDS && <p class="quiet">The newest {count(MAX_RECORDS)} {plural} are listed.</p>}
    </>
  );
}

function Filter(
  { name, all, value, choices, onValue }:
  { name: string; all: string; value: string; choices: Map<string, string>; onValue: (value: string) => void },
) {
  if (choices.size < 2 && !value) return null;
  return (
    <select class="run-filter" aria-label={name} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      <option value="">{all}</option>
      {value && !choices.has(value) && <option value={value}>{value}</option>}
      {[...choices].sort(([, a], [, b]) => a.localeCompare(b)).map(([code, words]) => <option value={code}>{words}</option>)}
    </select>
  );
}
