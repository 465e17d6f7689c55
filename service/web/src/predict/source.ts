// The source of predictions: a model, or the best tree of a job.
import { get, getIfFound } from "../api/client.ts";
import type { Dataset, Incumbent, Job, ModelWithTree, Preview, Tree } from "../api/types.ts";
import { title } from "../words.ts";

export interface Source {
  path: string; // the API path before /predict
  name: string;
  address: string; // the view of the model or job
  tree: Tree;
  rowsOf?: string; // the API path of the rows of its nodes; an alias may move to another tree, so it has the id
  target: string | undefined; // the column of the true class, if it is known
  dataset: Dataset | undefined;
  preview: Preview | undefined;
}

export async function sourceOf(kind: "model" | "job", id: string, signal: AbortSignal): Promise<Source> {
  if (kind === "model") {
    const model = await get<ModelWithTree>(`/v1/models/${encodeURIComponent(id)}`, signal);
    const name = id === model.id ? title(model) : `${id} (${title(model)})`;
    const data = await dataOf(model.dataset_id, signal);
    return {
      path: `/v1/models/${encodeURIComponent(id)}`, name, address: `#/models/${model.id}`, tree: model.tree, rowsOf: `/v1/models/${model.id}`,
      target: model.target ?? data.dataset?.target, ...data,
    };
  }
  const [job, incumbent] = await Promise.all([
    get<Job>(`/v1/jobs/${id}`, signal), get<Incumbent>(`/v1/jobs/${id}/incumbent`, signal),
  ]);
  const data = await dataOf(job.dataset_id, signal);
  return {
    path: `/v1/jobs/${id}`, name: `${title(job)}, tree ${incumbent.revision}`, address: `#/jobs/${id}`, tree: incumbent.tree,
    target: data.dataset?.target, ...data,
  };
}

/** Loads the dataset; predictions work without it. */
async function dataOf(id: string, signal: AbortSignal): Promise<Pick<Source, "dataset" | "preview">> {
  const [dataset, preview] = await Promise.all([
    getIfFound<Dataset>(`/v1/datasets/${id}`, signal), getIfFound<Preview>(`/v1/datasets/${id}/preview?rows=100`, signal),
  ]);
  return { dataset, preview };
}
