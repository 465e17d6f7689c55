// The list of models.
import { useMemo, useState } from "preact/hooks";
import { LostError } from "../api/client.ts";
import type { Alias, ModelSummary } from "../api/types.ts";
import { number } from "../format.ts";
import { ViewHead } from "../parts/head.tsx";
import { Await, Failure } from "../parts/states.tsx";
import type { Column } from "../parts/table.tsx";
import { ChosenBar, pickedOf } from "../runs/chosen.tsx";
import {
  createdColumn, datasetColumn, gapColumn, idColumn, mainScoreColumns, moreScoreColumns, nameColumn, notesColumn, parameterColumns, tagsColumn, tagWords,
} from "../runs/columns.tsx";
import { type DatasetNames, useDatasetNames } from "../runs/datasets.ts";
import { EditLabels } from "../runs/labels.tsx";
import { differing, parameterWords } from "../parameters.ts";
import { useRecords } from "../runs/records.ts";
import { RunsTable } from "../runs/table.tsx";
import { BEYOND_SPACE, REASONS, title } from "../words.ts";
import { isProduction, useAliases, usualAlias } from "./alias.ts";
import { MAX_COMPARED } from "./compare.tsx";
import { NoModels } from "./no-models.tsx";
import { Promote } from "./promote.tsx";

export function Models() {
  const models = useRecords<ModelSummary>("/v1/models");
  return (
    <>
      <ViewHead title="Models" about="A model is a tree that a job has learned." />
      <Await from={models} what="Loading the models">
        {({ items, complete }) => (items.length === 0 ? <NoModels /> : <ModelsTable models={items} complete={complete} onChange={models.put} />)}
      </Await>
    </>
  );
}

function ModelsTable({ models, complete, onChange }: { models: ModelSummary[]; complete: boolean; onChange: (model: ModelSummary) => void }) {
  const aliases = useAliases();
  const datasets = useDatasetNames();
  const [chosen, setChosen] = useState(new Set<string>());
  const [promoted, setPromoted] = useState<ModelSummary>();
  const names = useMemo(() => byModel(aliases.value), [aliases.value]);
  const different = useMemo(() => differing(models.map((model) => model.parameters)), [models]);
  const columns = useMemo(
    () => modelColumns(datasets, names, different, onChange, setPromoted), [datasets, names, [...different].join()],
  );
  const shown = ["dataset", "aliases", "max_depth", ...different, "validation_accuracy", "train_accuracy", "leaves", "gap", "created", "tags"];
  const text = useMemo(() => (model: ModelSummary) => [
    title(model, datasets.get(model.dataset_id)), datasets.get(model.dataset_id), REASONS[model.stop_reason], model.notes,
    ...(names?.get(model.id) ?? []), ...tagWords(model.tags), model.parameters && parameterWords(model.parameters),
  ].join("\n"), [datasets, names]);
  const picked = pickedOf(models, chosen);
  const kept = picked.filter((model) => names?.has(model.id));
  return (
    <>
      {aliases.error !== undefined && !(aliases.error instanceof LostError) && <Failure error={aliases.error} retry={aliases.reload} />}
      <RunsTable
        plural="models" rows={models} complete={complete} columns={columns} shown={shown} datasets={datasets} text={text} chosen={chosen} onChosen={setChosen}
        state={(model) => ({ code: model.stop_reason, words: REASONS[model.stop_reason] })}
        actions={(hidden) => (
          <ChosenBar
            kind="models" ids={picked.map((model) => model.id)} hidden={hidden} onClear={() => setChosen(new Set())}
            keep={kept.map((model) => `${title(model)} has the alias ${names!.get(model.id)![0]}; move or remove the alias before you delete the model.`)}
            compare={{ most: MAX_COMPARED, link: (ids) => `#/compare/${ids.join("/")}` }}
          />
        )}
      />
      {promoted && (
        <Promote
          modelId={promoted.id} alias={usualAlias(datasets, promoted.dataset_id)} datasets={datasets} onClose={() => setPromoted(undefined)}
          focusAfter={() => document.querySelector<HTMLElement>(`th a[href="#/models/${promoted.id}"]`)}
        />
      )}
    </>
  );
}

/** The aliases by model; undefined if they are not loaded. */
function byModel(aliases: Alias[] | undefined): Map<string, string[]> | undefined {
  const names = new Map<string, string[]>();
  for (const { model_id: id, name } of aliases ?? []) names.set(id, [...(names.get(id) ?? []), name]);
  return aliases && names;
}

function modelColumns(
  datasets: DatasetNames, aliases: Map<string, string[]> | undefined, different: ReturnType<typeof differing>,
  onChange: (model: ModelSummary) => void, onPromote: (model: ModelSummary) => void,
): Column<ModelSummary>[] {
  const name = (model: ModelSummary) => title(model, datasets.get(model.dataset_id));
  return [
    nameColumn(name, (model) => (
      <span class="run-name">
        <a href={`#/models/${model.id}`} title={name(model)}>{name(model)}</a>
        <EditLabels kind="models" record={model} name={name(model)} onChange={(next) => onChange({ ...model, name: next.name, tags: next.tags, notes: next.notes })} />
      </span>
    )),
    datasetColumn(datasets),
    {
      id: "aliases", name: "Aliases", value: (model) => aliases?.get(model.id)?.join(", "),
      cell: (model) => {
        const mine = aliases?.get(model.id) ?? [];
        const usual = usualAlias(datasets, model.dataset_id);
        return (
          <span class="alias-cell">
            {mine.map((alias) => <span class={isProduction(alias) ? "badge live" : "chip still"}>{alias}</span>)}
            {aliases && usual !== undefined && !mine.includes(usual) && (
              <button type="button" class="small" onClick={() => onPromote(model)} aria-label={`Put ${name(model)} in production`}>Put in production</button>
            )}
          </span>
        );
      },
    },
    ...parameterColumns<ModelSummary>((model) => model.parameters, different),
    ...mainScoreColumns<ModelSummary>(),
    gapColumn((model) => model),
    createdColumn(),
    tagsColumn(),
    { id: "stopped", name: "Stopped by", value: (model) => REASONS[model.stop_reason] },
    {
      id: "cost", name: "Cost", right: true, help: "The weight of the misclassified rows plus penalties.", value: (model) => model.objective,
      cell: (model) => <span title={model.beyond_space ? BEYOND_SPACE : undefined}>{number(model.objective)}</span>,
    },
    ...moreScoreColumns<ModelSummary>(),
    { id: "job", name: "Job", value: (model) => model.job_id, cell: (model) => <a href={`#/jobs/${model.job_id}`}>Open the job</a> },
    notesColumn(),
    idColumn(),
  ];
}
