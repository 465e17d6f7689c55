// The parameters of a job: defaults, where they go in the request, and a sentence on each.
import type { Job } from "../api/types.ts";

export interface Values {
  name: string;
  max_depth: string;
  max_changepoints: string;
  split_penalty: string;
  changepoint_penalty: string;
  time_limit: string;
  held_back: string;
  candidates: string;
  candidate_leaves: string;
  polish: boolean;
  balanced: boolean;
  categories: string;
  gap: string;
  patience: string;
  memory_limit: string;
  max_expansions: string;
}

export const DEFAULTS: Values = {
  name: "", max_depth: "4", max_changepoints: "2", split_penalty: "0", changepoint_penalty: "0", time_limit: "60",
  held_back: "20", candidates: "adaptive", candidate_leaves: "17", polish: true, balanced: false,
  categories: "ordered", gap: "0", patience: "", memory_limit: "", max_expansions: "",
};

export interface NumberField {
  key: keyof Values;
  name: string;
  help: (value: string) => string;
  pointer: string;
  unit?: string;
  min?: number;
  max?: number;
  step?: string;
  optional?: boolean;
}

function whole(text: string, otherwise: number): number {
  const value = Math.floor(Number(text));
  return Number.isFinite(value) && text !== "" ? value : otherwise;
}

export const MAIN: NumberField[] = [
  {
    key: "max_depth", name: "Depth", pointer: "/body/parameters/max_depth", min: 1, max: 12, step: "1",
    help: (value) => {
      const depth = Math.min(12, Math.max(1, whole(value, 4)));
      return `How many questions are asked on the way to a leaf, at most: up to ${2 ** depth} leaves. Each level more fits better and takes far longer to prove.`;
    },
  },
  {
    key: "max_changepoints", name: "Change points", pointer: "/body/parameters/max_changepoints", min: 1, max: 8, step: "1",
    help: (value) => {
      const cuts = Math.min(8, Math.max(1, whole(value, 2)));
      return cuts === 1
        ? "A node cuts its feature once, as in an ordinary tree: low values left, high values right."
        : `A node may cut its feature up to ${cuts} times, into ${cuts + 1} pieces that go left and right in turn: ranges in one question.`;
    },
  },
  {
    key: "split_penalty", name: "Penalty per split", pointer: "/body/parameters/split_penalty", min: 0, step: "any", unit: "rows",
    help: () => "How many more rows a split must get right to be worth having. Larger makes a smaller tree.",
  },
  {
    key: "changepoint_penalty", name: "Penalty per further cut", pointer: "/body/parameters/changepoint_penalty", min: 0,
    step: "any", unit: "rows",
    help: () => "The same for each cut of a node after its first. Larger makes simpler questions.",
  },
  {
    key: "time_limit", name: "Time limit", pointer: "/body/limits/time_limit", min: 0, step: "any", unit: "seconds", optional: true,
    help: () => "The search stops then and keeps its best tree. Empty: it goes on until the tree is proven optimal.",
  },
  {
    key: "held_back", name: "Rows held back", pointer: "/body/validation", min: 0, max: 90, step: "any", unit: "%",
    help: () => "A share of the rows that the search never sees; accuracy on them says how well the tree will do. 0: none.",
  },
];

export const MORE: NumberField[] = [
  {
    key: "candidate_leaves", name: "Proposed cuts", pointer: "/body/parameters/candidate_leaves", min: 1, step: "1",
    help: () => "The size of the small trees, or of the grid, that propose cuts. More finds finer cuts and takes longer to prove.",
  },
  {
    key: "gap", name: "Good enough at a gap of", pointer: "/body/limits/gap", min: 0, max: 99, step: "any", unit: "%",
    help: () => "Stop when the best tree is proven to be within this share of the optimum. 0: go on to the proof.",
  },
  {
    key: "patience", name: "Patience", pointer: "/body/limits/patience", min: 0, step: "any", unit: "seconds", optional: true,
    help: () => "Stop after so long without a better tree. Empty: never for that reason.",
  },
  {
    key: "memory_limit", name: "Memory limit", pointer: "/body/limits/memory_limit", min: 1, step: "any", unit: "MB", optional: true,
    help: () => "Stop when the search has taken so much. Empty: no limit of its own.",
  },
  {
    key: "max_expansions", name: "Expansions", pointer: "/body/limits/max_expansions", min: 1, step: "1", optional: true,
    help: () => "Stop after so many steps of the search: unlike seconds, the same on every machine. Empty: no limit.",
  },
];

export const CANDIDATES: Record<string, string> = {
  adaptive: "Where small trees would cut",
  shape: "Those, and each feature's best cuts",
  quantile: "A grid of quantiles",
  all: "Everywhere",
};

/** A number for the request; null for an empty optional field; text as it is, for the server to judge. */
function numeric(text: string, factor = 1): number | string | null {
  if (text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? Number((value * factor).toPrecision(15)) : text;
}

export function requestBody(values: Values, datasetId: string, parent: string | null): Record<string, unknown> {
  const share = numeric(values.held_back, 0.01);
  return {
    dataset_id: datasetId,
    name: values.name.trim() || null,
    ...(parent && { parent_job_id: parent }),
    parameters: {
      max_depth: numeric(values.max_depth),
      max_changepoints: numeric(values.max_changepoints),
      split_penalty: numeric(values.split_penalty),
      changepoint_penalty: numeric(values.changepoint_penalty),
      candidates: values.candidates,
      candidate_leaves: numeric(values.candidate_leaves),
      polish: values.polish,
      class_weight: values.balanced ? "balanced" : null,
      categories: values.categories,
    },
    limits: {
      time_limit: numeric(values.time_limit),
      gap: numeric(values.gap, 0.01),
      patience: numeric(values.patience),
      memory_limit: numeric(values.memory_limit, 1e6),
      max_expansions: numeric(values.max_expansions),
    },
    validation: share === 0 || share === null ? null : { fraction: share, seed: 0 },
  };
}

/** The form as it was for this job. */
export function valuesOf(job: Job): Values {
  const { parameters, limits, validation } = job;
  const text = (value: number | null, factor = 1) => (value === null ? "" : String(Number((value * factor).toPrecision(12))));
  const leaves = parameters.candidate_leaves;
  return {
    name: job.name ?? "",
    max_depth: text(parameters.max_depth),
    max_changepoints: text(parameters.max_changepoints),
    split_penalty: text(parameters.split_penalty),
    changepoint_penalty: text(parameters.changepoint_penalty),
    time_limit: text(limits.time_limit),
    held_back: validation && "fraction" in validation ? text(validation.fraction, 100) : "0",
    candidates: parameters.candidates,
    candidate_leaves: text(Array.isArray(leaves) ? leaves[0] : leaves),
    polish: parameters.polish,
    balanced: parameters.class_weight === "balanced",
    categories: parameters.categories,
    gap: text(limits.gap, 100),
    patience: text(limits.patience),
    memory_limit: text(limits.memory_limit, 1e-6),
    max_expansions: text(limits.max_expansions),
  };
}

/** A word that makes a request known again: sent twice, it starts one job. */
export function requestKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
