// The columns that tables of jobs, sweeps and models share.
import type { ComponentChildren } from "preact";
import type { Scores } from "../api/types.ts";
import { moment, number, percent } from "../format.ts";
import { describe, type Given, type ParameterKey, PARAMETERS, valueOf } from "../parameters.ts";
import { CopyButton } from "../parts/copy.tsx";
import type { Column } from "../parts/table.tsx";
import { gapWords, unbounded } from "../quality/sentences.ts";
import { type DatasetNames, datasetWords } from "./datasets.ts";

type Tags = Record<string, string>;

export function nameColumn<Row>(name: (row: Row) => string, cell: (row: Row) => ComponentChildren): Column<Row> {
  return { id: "name", name: "Name", value: name, cell };
}

export function idColumn<Row extends { id: string }>(): Column<Row> {
  return { id: "id", name: "Id", value: (row) => row.id, cell: (row) => <span class="id-cell"><code>{row.id}</code><CopyButton small label={`Copy the id ${row.id}`} text={row.id} /></span> };
}

export function datasetColumn<Row extends { dataset_id: string }>(names: DatasetNames): Column<Row> {
  return {
    id: "dataset", name: "Dataset", value: (row) => names.get(row.dataset_id) ?? row.dataset_id,
    cell: (row) => {
      const name = names.get(row.dataset_id);
      return name === undefined ? <span class="quiet">{datasetWords(names, row.dataset_id)}</span> : <a class="cut-link" title={name} href={`#/datasets/${row.dataset_id}`}>{name}</a>;
    },
  };
}

/** A column for each parameter; those that differ come first. */
export function parameterColumns<Row>(
  given: (row: Row) => Given | undefined, different: Set<ParameterKey>, named: (name: string) => string = (name) => name,
): Column<Row>[] {
  const keys = Object.keys(PARAMETERS) as ParameterKey[];
  return [...keys.filter((key) => different.has(key)), ...keys.filter((key) => !different.has(key))].map((key): Column<Row> => ({
    id: key, name: named(PARAMETERS[key].name), help: describe(key), right: PARAMETERS[key].numeric, value: (row) => valueOf(given(row), key),
    cell: (row) => {
      const value = valueOf(given(row), key);
      return typeof value === "number" ? number(value) : value;
    },
  }));
}

const ACCURACY = "Share of the rows whose class the tree predicts";
const MORE_SCORES = { balanced_accuracy: "balanced accuracy", log_loss: "log loss", macro_f1: "macro F1", roc_auc: "ROC AUC" } as const;
const SETS = { validation: "Held-back", train: "Training" } as const;
type Scored = { metrics?: Partial<Scores> | null };

function scoreColumn<Row extends Scored>(key: keyof Scores, name: string, share: boolean, help?: string): Column<Row> {
  return {
    id: key, name, help, right: true, descending: true, value: (row) => row.metrics?.[key],
    cell: (row) => {
      const value = row.metrics?.[key];
      return value == null ? <span class="quiet">–</span> : share ? percent(value) : number(value);
    },
  };
}

/** Accuracies and size, which are shown at first. */
export function mainScoreColumns<Row extends Scored>(): Column<Row>[] {
  return [
    scoreColumn("validation_accuracy", "Held-back accuracy", true, `${ACCURACY}, of the rows that the search did not see.`),
    scoreColumn("train_accuracy", "Training accuracy", true, `${ACCURACY}, of the rows that the tree was trained on.`),
    { ...scoreColumn<Row>("leaves", "Leaves", false), descending: false },
  ];
}

export function moreScoreColumns<Row extends Scored>(): Column<Row>[] {
  return [
    scoreColumn<Row>("changepoints", "Further cuts", false, "The number of change points after the first one of each split."),
    ...(["validation", "train"] as const).flatMap((rows) => (Object.keys(MORE_SCORES) as (keyof typeof MORE_SCORES)[]).map((score) =>
      ({ ...scoreColumn<Row>(`${rows}_${score}`, `${SETS[rows]} ${MORE_SCORES[score]}`, score !== "log_loss"), descending: score !== "log_loss" }))),
  ];
}

interface Proof { lower_bound?: number | null; upper_bound?: number | null; gap_relative?: number | null; proven_optimal: boolean }

export function gapColumn<Row>(of: (row: Row) => Proof): Column<Row> {
  return {
    id: "gap", name: "Gap", help: "The maximum distance to the best tree of the search space.", right: true,
    value: (row) => (of(row).proven_optimal ? 0 : unbounded(of(row)) ? null : of(row).gap_relative),
    cell: (row) => {
      const proof = of(row);
      if (proof.proven_optimal) return <span class="badge good">Proven</span>;
      return <span class={unbounded(proof) || proof.gap_relative == null ? "quiet" : undefined}>{gapWords(proof)}</span>;
    },
  };
}

export function createdColumn<Row extends { created_at: string }>(): Column<Row> {
  return {
    id: "created", name: "Created", descending: true, value: (row) => row.created_at, by: (row) => Date.parse(row.created_at),
    cell: (row) => <span class="moment">{moment(row.created_at)}</span>,
  };
}

export function tagWords(tags: Tags | undefined): string[] {
  return Object.entries(tags ?? {}).map(([key, value]) => (value ? `${key}: ${value}` : key));
}

export function tagsColumn<Row extends { tags?: Tags }>(): Column<Row> {
  return {
    id: "tags", name: "Tags", value: (row) => tagWords(row.tags).join(", "),
    cell: (row) => tagWords(row.tags).map((words) => <span class="chip still">{words}</span>),
  };
}

export function notesColumn<Row extends { notes?: string | null }>(): Column<Row> {
  return { id: "notes", name: "Notes", value: (row) => row.notes, cell: (row) => <span class="notes-cell">{row.notes}</span> };
}
