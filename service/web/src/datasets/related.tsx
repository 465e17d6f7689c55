// What was made of a dataset: jobs, sweeps and models, and other datasets of the same file.
import { getAll, MAX_LISTED } from "../api/client.ts";
import type { Dataset, DatasetSummary, JobSummary, ModelSummary, SweepSummary } from "../api/types.ts";
import { moment } from "../format.ts";
import { Await } from "../parts/states.tsx";
import { type Column, DataTable } from "../parts/table.tsx";
import { type Resource, useResource } from "../state/resource.ts";
import { sweepWords } from "../sweeps/words.ts";
import { REASONS, stateWords, title } from "../words.ts";

interface Made { id: string; kind: "Job" | "Sweep" | "Model"; name: string; state: string; at: string }

const FOLDERS = { Job: "jobs", Sweep: "sweeps", Model: "models" };

const COLUMNS: Column<Made>[] = [
  { id: "name", name: "Name", value: ({ name }) => name, cell: ({ id, kind, name }) => <a href={`#/${FOLDERS[kind]}/${id}`}>{name}</a> },
  { id: "kind", name: "Kind", value: ({ kind }) => kind },
  { id: "state", name: "State", value: ({ state }) => state },
  { id: "at", name: "Made", value: ({ at }) => at, cell: ({ at }) => moment(at), descending: true },
];

async function madeOf(id: string, signal: AbortSignal): Promise<Made[]> {
  const [jobs, sweeps, models] = await Promise.all([
    getAll<JobSummary>(`/v1/jobs?dataset_id=${id}`, signal), getAll<SweepSummary>(`/v1/sweeps?dataset_id=${id}`, signal),
    getAll<ModelSummary>(`/v1/models?dataset_id=${id}`, signal),
  ]);
  return [
    ...jobs.map((job): Made => ({ id: job.id, kind: "Job", name: title(job), state: stateWords(job), at: job.created_at })),
    ...sweeps.map((sweep): Made => ({ id: sweep.id, kind: "Sweep", name: title(sweep), state: sweepWords(sweep), at: sweep.created_at })),
    ...models.map((model): Made => ({
      id: model.id, kind: "Model", name: title(model), state: REASONS[model.stop_reason], at: model.created_at,
    })),
  ];
}

export function MadeOf({ dataset }: { dataset: Dataset }) {
  const made = useResource(`${dataset.id}/made`, (signal) => madeOf(dataset.id, signal));
  return (
    <section class="panel">
      <h2>Jobs and models</h2>
      <Await from={made} what="Loading the jobs and models">
        {(items) => items.length === 0
          ? <p class="quiet">No tree was trained on this dataset yet.</p>
          : (
            <>
              <DataTable label="Jobs and models" noun="record" columns={COLUMNS} rows={items} id={({ id }) => id} order={{ by: "at", descending: true }} />
              {(["Job", "Sweep", "Model"] as const).filter((kind) => items.filter((each) => each.kind === kind).length >= MAX_LISTED)
                .map((kind) => <p class="quiet">The newest {MAX_LISTED} {FOLDERS[kind]} are shown.</p>)}
            </>
          )}
      </Await>
    </section>
  );
}

/** Links to the datasets of the same file with other roles or types. */
export function SameFile({ dataset, all }: { dataset: Dataset; all: Resource<DatasetSummary[]> }) {
  const others = (all.value ?? []).filter((other) => other.sha256 === dataset.sha256 && other.id !== dataset.id);
  if (!others.length) return null;
  const few = others.slice(0, 8);
  return (
    <p class="quiet same-file">
      The same file is also in{" "}
      {few.map((other, i) => <>{i > 0 && ", "}<a href={`#/datasets/${other.id}`}>{title(other)}</a> (target {other.target})</>)}
      {others.length > few.length && ` and ${others.length - few.length} more`}.
    </p>
  );
}
