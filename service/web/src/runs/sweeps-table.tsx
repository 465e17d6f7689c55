// The table of the sweeps that have ended.
import { useMemo, useState } from "preact/hooks";
import type { SweepSummary } from "../api/types.ts";
import { count, number, seconds } from "../format.ts";
import type { Column } from "../parts/table.tsx";
import { METRICS, scoreRange, sweepEnded, sweepTone, sweepWords } from "../sweeps/words.ts";
import { title } from "../words.ts";
import { ChosenBar, pickedOf } from "./chosen.tsx";
import { createdColumn, datasetColumn, idColumn, nameColumn, notesColumn, parameterColumns, tagsColumn, tagWords } from "./columns.tsx";
import type { DatasetNames } from "./datasets.ts";
import { EditLabels } from "./labels.tsx";
import { differing } from "../parameters.ts";
import { RunsTable } from "./table.tsx";

interface Props {
  sweeps: SweepSummary[];
  complete: boolean;
  datasets: DatasetNames;
  onChange: (sweep: SweepSummary) => void;
}

export function SweepsTable({ sweeps, complete, datasets, onChange }: Props) {
  const [chosen, setChosen] = useState(new Set<string>());
  const rows = useMemo(() => sweeps.filter((sweep) => sweepEnded(sweep.state)), [sweeps]);
  const different = useMemo(() => differing(rows.map((sweep) => sweep.choice?.parameters)), [rows]);
  const columns = useMemo(() => sweepColumns(datasets, different, onChange), [datasets, [...different].join()]);
  const text = useMemo(() => (sweep: SweepSummary) => [
    title(sweep, datasets.get(sweep.dataset_id)), datasets.get(sweep.dataset_id), sweepWords(sweep), sweep.notes,
    METRICS[sweep.metric].name, ...tagWords(sweep.tags),
  ].join("\n"), [datasets]);
  const picked = pickedOf(rows, chosen).map((sweep) => sweep.id);
  const shown = ["state", "dataset", "score", "metric", "leaves", "max_depth", ...different, "jobs", "time", "created", "tags"];
  return (
    <RunsTable
      plural="sweeps" prefix="sweeps-" rows={rows} complete={complete} columns={columns} shown={shown} state={stateOf} datasets={datasets}
      text={text} chosen={chosen} onChosen={setChosen}
      actions={(hidden) => <ChosenBar kind="sweeps" ids={picked} hidden={hidden} keep={[]} onClear={() => setChosen(new Set())} />}
    />
  );
}

function sweepColumns(
  datasets: DatasetNames, different: ReturnType<typeof differing>, onChange: (sweep: SweepSummary) => void,
): Column<SweepSummary>[] {
  const name = (sweep: SweepSummary) => title(sweep, datasets.get(sweep.dataset_id));
  return [
    nameColumn(name, (sweep) => (
      <span class="run-name">
        <a href={`#/sweeps/${sweep.id}`} title={name(sweep)}>{name(sweep)}</a>
        <EditLabels kind="sweeps" record={sweep} name={name(sweep)} onChange={(next) => onChange({ ...sweep, name: next.name, tags: next.tags, notes: next.notes })} />
      </span>
    )),
    {
      id: "state", name: "State", value: (sweep) => sweepWords(sweep),
      cell: (sweep) => (
        <>
          <span class={`badge ${sweepTone(sweep)}`}>{sweepWords(sweep)}</span>
          {sweep.error && <span class="error cut" title={sweep.error.message}>{sweep.error.message}</span>}
        </>
      ),
    },
    datasetColumn(datasets),
    {
      id: "score", name: "Score", right: true, descending: true, help: "The mean score of the choice on the held-out folds, and its standard error.",
      value: (sweep) => sweep.choice?.mean, cell: ({ choice, metric }) => (choice ? scoreRange(metric, choice.mean, choice.standard_error) : "–"),
    },
    { id: "metric", name: "Metric", value: (sweep) => METRICS[sweep.metric].name },
    { id: "leaves", name: "Leaves", right: true, help: "The mean number of leaves of the chosen trees.", value: (sweep) => sweep.choice?.leaves, cell: (sweep) => sweep.choice && number(sweep.choice.leaves) },
    ...parameterColumns<SweepSummary>((sweep) => sweep.choice?.parameters, different, (text) => `Chosen ${text.toLowerCase()}`),
    { id: "jobs", name: "Jobs", right: true, value: (sweep) => sweep.progress.jobs, cell: (sweep) => count(sweep.progress.jobs) },
    { id: "settings", name: "Settings", right: true, value: (sweep) => sweep.progress.settings, cell: (sweep) => count(sweep.progress.settings) },
    { id: "folds", name: "Folds", right: true, value: (sweep) => sweep.n_folds },
    { id: "failed", name: "Failed jobs", right: true, value: (sweep) => sweep.progress.failed },
    { id: "time", name: "Time", right: true, help: "How long the sweep tried settings.", value: (sweep) => sweep.seconds, cell: (sweep) => seconds(sweep.seconds) },
    createdColumn(),
    tagsColumn(),
    { id: "model", name: "Model", value: (sweep) => sweep.model_id, cell: (sweep) => sweep.model_id && <a href={`#/models/${sweep.model_id}`}>Open the model</a> },
    notesColumn(),
    idColumn(),
  ];
}

/** The state for the filter: why a sweep ended, if it did. */
function stateOf(sweep: SweepSummary): { code: string; words: string } {
  return { code: (sweep.state === "SUCCEEDED" && sweep.stop_reason) || sweep.state, words: sweepWords(sweep) };
}
