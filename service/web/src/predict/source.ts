// The source of predictions: a model, or the best tree of a job.
import { get, getIfFound } from "../api/client.ts";
import type { Dataset, Incumbent, Job, ModelWithTree, Preview, Tree } from "../api/types.ts";
import { title } from "../words.ts";

export interface Source {
  path: string; // the API path before /predict; it has the id of the model, because an alias may move to another tree
  revision?: number; // of a job's tree; without it the job predicts with the newest one
  name: string;
  address: string; // the view of the model or job
  tree: Tree;
  target: string | undefined; // the column of the true class, if it is known
  rowsOf: string; // the address of the tree, below which the rows of its nodes are
  dataset: Dataset | undefined;
  preview: Preview | undefined;
}

export async function sourceOf(kind: "model" | "job", id: string, signal: AbortSignal): Promise<Source> {
  if (kind === "model") {
    const model = await get<ModelWithTree>(`/v1/models/${encodeURIComponent(id)}`, signal);
    const name = id === model.id ? title(model) : `${id} (${title(model)})`;
    const path = `/v1/models/${model.id}`;
    const data = await dataOf(model.dataset_id, signal);
    return { path, name, address: `#/models/${model.id}`, tree: model.tree, rowsOf: path, target: model.target ?? data.dataset?.target, ...data };
  }
  const [job, incumbent] = await Promise.all([
    get<Job>(`/v1/jobs/${id}`, signal), get<Incumbent>(`/v1/jobs/${id}/incumbent`, signal),
  ]);
  const { revision, tree } = incumbent;
  const data = await dataOf(job.dataset_id, signal);
  return {
    path: `/v1/jobs/${id}`, revision, name: `${title(job)}, tree ${revision}`, address: `#/jobs/${id}?revision=${revision}`, tree,
    rowsOf: `/v1/jobs/${id}/incumbent?revision=${revision}`, target: data.dataset?.target, ...data,
  };
}

/** Returns the address of the API that predicts or scores rows with the tree of the source. */
export function addressOf({ path, revision }: Source, verb: "predict" | "score", query: Record<string, string> = {}): string {
  const entries = new URLSearchParams({ ...query, ...(revision !== undefined && { revision: String(revision) }) }).toString();
  return `${path}/${verb}${entries && `?${entries}`}`;
}

/** Loads the dataset; predictions work without it. */
async function dataOf(id: string, signal: AbortSignal): Promise<Pick<Source, "dataset" | "preview">> {
  const [dataset, preview] = await Promise.all([
    getIfFound<Dataset>(`/v1/datasets/${id}`, signal), getIfFound<Preview>(`/v1/datasets/${id}/preview?rows=100`, signal),
  ]);
  return { dataset, preview };
}
