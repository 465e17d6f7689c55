// The table of the jobs that have ended, and on request of the jobs of sweeps.
import { useMemo } from "preact/hooks";
import type { JobSummary, SweepSummary } from "../api/types.ts";
import { count, number, orDash, percent, seconds } from "../format.ts";
import { MAX_TOGETHER } from "../jobs/together.tsx";
import { StateBadge } from "../parts/badge.tsx";
import { Refusal } from "../parts/states.tsx";
import type { Column } from "../parts/table.tsx";
import { BEYOND_SPACE, ended, stateWords, title } from "../words.ts";
import { ChosenBar, pickedOf } from "./chosen.tsx";
import {
  createdColumn, datasetColumn, gapColumn, idColumn, mainScoreColumns, moreScoreColumns, nameColumn, notesColumn, parameterColumns, tagsColumn, tagWords,
} from "./columns.tsx";
import type { DatasetNames } from "./datasets.ts";
import { EditLabels } from "./labels.tsx";
import { useLinked } from "./linked.ts";
import { differing, parameterWords } from "../parameters.ts";
import { useSweepJobs } from "./sweep-jobs.ts";
import { RunsTable } from "./table.tsx";

interface Props {
  jobs: JobSummary[]; // all of them, without those of sweeps
  complete: boolean;
  sweeps: SweepSummary[];
  datasets: DatasetNames;
  chosen: Set<string>;
  onChosen: (chosen: Set<string>) => void;
  onChange: (job: JobSummary) => void;
}

export function JobsTable({ jobs, complete, sweeps, datasets, chosen, onChosen, onChange }: Props) {
  const [withSweeps, setWithSweeps] = useLinked("sweep-jobs");
  const { jobs: swept, error } = useSweepJobs(sweeps, withSweeps !== "");
  const rows = useMemo(() => [...jobs.filter((job) => ended(job.state)), ...(withSweeps ? swept : [])], [jobs, swept, withSweeps]);
  const different = useMemo(() => differing(rows.map((job) => job.parameters)), [rows]);
  const sweepNames = useMemo(() => new Map(sweeps.map((sweep) => [sweep.id, title(sweep, datasets.get(sweep.dataset_id))])), [sweeps, datasets]);
  const columns = useMemo(() => jobColumns(datasets, sweepNames, different, onChange), [datasets, sweepNames, [...different].join()]);
  const shown = ["state", "dataset", "max_depth", ...different, "validation_accuracy", "train_accuracy", "leaves", "gap", "time", "created", "tags", ...(withSweeps ? ["sweep"] : [])];
  const text = useMemo(() => (job: JobSummary) => [
    title(job, datasets.get(job.dataset_id)), datasets.get(job.dataset_id), stateWords(job), job.notes, ...tagWords(job.tags),
    job.parameters && parameterWords(job.parameters),
  ].join("\n"), [datasets]);
  const picked = pickedOf([...jobs, ...(withSweeps ? swept : [])], chosen);
  return (
    <RunsTable
      plural="jobs" rows={rows} complete={complete} columns={columns} shown={shown} datasets={datasets} text={text} chosen={chosen} onChosen={onChosen}
      state={(job) => ({ code: (job.state === "SUCCEEDED" && job.stop_reason) || job.state, words: stateWords(job) })}
      actions={(hidden) => (
        <ChosenBar
          kind="jobs" ids={picked.map((job) => job.id)} hidden={hidden} keep={reasonsToKeep(picked)} onClear={() => onChosen(new Set())}
          compare={{ most: MAX_TOGETHER, link: (ids) => `#/jobs/${ids.join(",")}` }}
        />
      )}
    >
      {withSweeps && <Refusal error={error} />}
      {sweeps.length > 0 && (
        <label class="switch">
          <input type="checkbox" checked={withSweeps !== ""} onChange={(event) => setWithSweeps(event.currentTarget.checked ? "yes" : "")} /> Show jobs of sweeps
        </label>
      )}
    </RunsTable>
  );
}

/** Says why the API would not delete some of the jobs. */
function reasonsToKeep(jobs: JobSummary[]): string[] {
  const swept = jobs.filter((job) => job.sweep_id !== null).length;
  const live = jobs.filter((job) => job.sweep_id === null && !ended(job.state)).length;
  return [
    live > 0 && `${count(live)} of the chosen jobs ${live === 1 ? "has" : "have"} not ended; cancel or finish ${live === 1 ? "it" : "them"} before you delete.`,
    swept > 0 && `${count(swept)} of the chosen jobs ${swept === 1 ? "belongs" : "belong"} to a sweep and can only be deleted with the sweep.`,
  ].filter((text) => text !== false);
}

function jobColumns(
  datasets: DatasetNames, sweeps: Map<string, string>, different: ReturnType<typeof differing>, onChange: (job: JobSummary) => void,
): Column<JobSummary>[] {
  const name = (job: JobSummary) => title(job, datasets.get(job.dataset_id));
  return [
    nameColumn(name, (job) => (
      <span class="run-name">
        <a href={`#/jobs/${job.id}`} title={name(job)}>{name(job)}</a>
        <EditLabels kind="jobs" record={job} name={name(job)} onChange={(next) => onChange({ ...job, name: next.name, tags: next.tags, notes: next.notes })} />
      </span>
    )),
    {
      id: "state", name: "State", value: stateWords,
      cell: (job) => <><StateBadge job={job} />{job.error && <span class="error cut" title={job.error.message}>{job.error.message}</span>}</>,
    },
    datasetColumn(datasets),
    ...parameterColumns<JobSummary>((job) => job.parameters, different),
    ...mainScoreColumns<JobSummary>(),
    gapColumn((job) => ({ ...job.progress, proven_optimal: job.proven_optimal })),
    { id: "time", name: "Search time", right: true, value: (job) => job.progress.elapsed_seconds, cell: (job) => seconds(job.progress.elapsed_seconds) },
    createdColumn(),
    tagsColumn(),
    {
      id: "sweep", name: "Sweep", value: (job) => job.sweep_id,
      cell: (job) => job.sweep_id && <a class="cut-link" href={`#/sweeps/${job.sweep_id}`}>{sweeps.get(job.sweep_id) ?? "Sweep"}</a>,
    },
    {
      id: "cost", name: "Cost", right: true, help: "The weight of the misclassified rows plus penalties.", value: (job) => job.progress.objective,
      cell: (job) => <span title={job.progress.beyond_space ? BEYOND_SPACE : undefined}>{orDash(job.progress.objective, number)}</span>,
    },
    {
      id: "held_back", name: "Rows held back", right: true,
      value: (job) => (job.validation && ("fraction" in job.validation ? job.validation.fraction : `by ${job.validation.column}`)),
      cell: (job) => (job.validation ? "fraction" in job.validation ? percent(job.validation.fraction) : `by ${job.validation.column}` : "none"),
    },
    ...moreScoreColumns<JobSummary>(),
    { id: "trees", name: "Trees found", right: true, value: (job) => job.progress.incumbents },
    { id: "expansions", name: "Expansions", right: true, value: (job) => job.progress.expansions, cell: (job) => count(job.progress.expansions) },
    { id: "model", name: "Model", value: (job) => job.model_id, cell: (job) => job.model_id && <a href={`#/models/${job.model_id}`}>Open the model</a> },
    notesColumn(),
    idColumn(),
  ];
}
