// What a program can do with a dataset, a job or a model.
import type { Dataset, Job, Model, ModelWithTree, Preview, Tree } from "../api/types.ts";
import { type Call, KEY, type Server } from "./calls.ts";
import { python } from "./literals.ts";

export type Row = Record<string, unknown>;

export interface Used { dataset?: Dataset; job?: Job; model?: Model | ModelWithTree }

export interface Task {
  name: string;
  about: string;
  call?: Call;
  python?: (server: Server) => string; // a program that is not a request
}

const FILE = "rows.csv";

export function tasksOf({ dataset, job, model }: Used, row: Row | undefined): Task[] {
  if (model) return [...predictTasks(`/v1/models/${model.id}`, row), ...treeTasks(model.id, row)];
  if (job) {
    return [
      { name: "Wait for the model", about: "Reads the job until it has ended. curl reads it once.", call: { path: `/v1/jobs/${job.id}`, waits: true } },
      ...predictTasks(`/v1/jobs/${job.id}`, row),
    ];
  }
  if (!dataset) return [];
  const request = { dataset_id: dataset.id, parameters: { max_depth: 4, max_changepoints: 2 }, limits: { time_limit: 60 }, validation: { fraction: 0.2 } };
  return [
    {
      name: "Train a tree", call: { path: "/v1/jobs", json: request, waits: true },
      about: "Starts a search of 60 seconds that holds a fifth of the rows back. Python and JavaScript wait for its model.",
    },
    { name: "Read the first rows", about: "Reads the first rows of the dataset.", call: { path: `/v1/datasets/${dataset.id}/preview?rows=5` } },
  ];
}

function predictTasks(path: string, row: Row | undefined): Task[] {
  return [
    ...(row
      ? [{ name: "Predict rows", about: "Predicts rows, with the probability of each class. This row is an example from the dataset.", call: { path: `${path}/predict`, json: { records: [row] } } }]
      : []),
    { name: "Predict a file", about: `Predicts the rows of ${FILE}. For Parquet, the type is application/vnd.apache.parquet.`, call: { path: `${path}/predict`, file: FILE, accept: "text/csv" } },
    { name: "Score a file", about: `Compares the predictions with the true classes in ${FILE}.`, call: { path: `${path}/score`, file: FILE } },
  ];
}

function treeTasks(id: string, row: Row | undefined): Task[] {
  return [
    {
      name: "Predict without the server", about: "Downloads the tree once and predicts with the library literati, as with scikit-learn.",
      python: ({ url, withKey }) => [
        ...(withKey ? ["import os", ""] : []), "import httpx", "import pandas as pd", "from literati import ShapeTree", "",
        withKey
          ? `headers = {"Authorization": f"Bearer {os.environ['${KEY}']}"}\nresponse = httpx.get(${python(`${url}/v1/models/${id}`)}, headers=headers)`
          : `response = httpx.get(${python(`${url}/v1/models/${id}`)})`,
        'tree = ShapeTree.from_dict(response.raise_for_status().json()["tree"])', "",
        `rows = ${python([row ?? {}])}`, "X = pd.DataFrame(rows, columns=tree.feature_names)", "print(tree.predict(X))", "print(tree.predict_proba(X))",
      ].join("\n"),
    },
  ];
}

/** Returns a row with the columns that the tree uses, or with all columns if the tree is not known. */
export function exampleRow(preview: Preview | undefined, dataset: Dataset | undefined, tree: Tree | undefined): Row | undefined {
  const record = preview?.records[0];
  if (tree) {
    const used = [...new Set(tree.nodes.flatMap((node) => (node.split ? [node.split.column] : [])))].sort((a, b) => a - b);
    const columns = used.length ? used.map((index) => tree.columns[index]) : tree.columns.slice(0, 1);
    return Object.fromEntries(columns.map((column) => [column.name, record ? record[column.name] : likely(column)]));
  }
  if (!record) return undefined;
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== dataset?.target && name !== dataset?.weight));
}

function likely(column: Tree["columns"][number]): unknown {
  if (column.kind === "boolean") return true;
  return column.kind === "number" ? column.minimum : column.categories[0]?.value;
}
