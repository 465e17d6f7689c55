// The fields of the form. Defaults, ranges and descriptions come from parameters.json, which `make openapi` writes.
import type { Job } from "../api/types.ts";
import definitions from "./parameters.json";

type Group = "parameters" | "limits";

interface Definition {
  description: string;
  default: unknown;
  integer?: boolean;
  optional?: boolean;
  unit?: string | null;
  min?: number;
  max?: number;
  choices?: Record<string, string>;
}

type NumberKey =
  | "max_depth" | "max_changepoints" | "split_penalty" | "changepoint_penalty" | "min_samples_leaf" | "candidate_leaves" | "held_back"
  | "probability_smoothing"
  | "n_threads" | "time_limit" | "max_expansions" | "memory_limit" | "gap" | "patience";

export type Values =
  & Record<NumberKey | "name" | "candidates" | "categories", string>
  & { polish: boolean; balanced: boolean };

export interface NumberField {
  key: NumberKey;
  label: string;
  pointer: string;
  help: (value: string) => string;
  unit?: string;
  min?: number;
  max?: number;
  step: string;
  optional: boolean;
  group?: Group;
  factor: number; // of the unit in the request
}

interface Changes { unit?: string; factor?: number; hint?: (value: number) => string }

function definition(group: Group, key: string): Definition {
  return (definitions[group] as Record<string, Definition>)[key];
}

export const about = (key: string): Definition => definition("parameters", key);

function numberField(group: Group, key: NumberKey, label: string, changes: Changes = {}): NumberField {
  const { description, integer, optional, min, max, unit } = definition(group, key);
  const { factor = 1, hint } = changes;
  const bound = (value: string) => Math.min(max!, Math.max(min!, Math.floor(Number(value))));
  return {
    key, label, group, factor, pointer: `/body/${group}/${key}`, optional: optional ?? false,
    unit: changes.unit ?? unit ?? undefined, step: integer && factor === 1 ? "1" : "any",
    min: min && min / factor, max: max && max / factor,
    help: (value) => [description, optional && "Empty means no limit.", hint?.(bound(value))].filter(Boolean).join(" "),
  };
}

const leavesHint = (depth: number) => `A depth of ${depth} gives up to ${2 ** depth} leaves and takes longer to prove than a smaller one.`;

const cutsHint = (cuts: number) => cuts === 1
  ? "Values up to the threshold go left and all others go right, as in an ordinary tree."
  : `Up to ${cuts} of them divide a feature into ${cuts + 1} intervals, which go left and right in turn.`;

export const MAIN: NumberField[] = [
  numberField("parameters", "max_depth", "Depth", { hint: leavesHint }),
  numberField("parameters", "max_changepoints", "Change points", { hint: cutsHint }),
  numberField("parameters", "split_penalty", "Penalty per split"),
  numberField("parameters", "changepoint_penalty", "Penalty per further cut"),
  numberField("limits", "time_limit", "Time limit"),
  {
    key: "held_back", label: "Rows held back", pointer: "/body/validation", unit: "%", min: 0, max: 90, step: "any",
    optional: false, factor: 0.01,
    help: () => "Share of the rows that the search does not use. The accuracy on these rows shows how well the tree does on new data.",
  },
];

export const MORE: NumberField[] = [
  numberField("parameters", "candidate_leaves", "Proposed cuts"),
  numberField("parameters", "min_samples_leaf", "Rows per interval"),
  numberField("parameters", "probability_smoothing", "Smoothing of probabilities"),
  numberField("limits", "gap", "Stop at a gap of", { unit: "%", factor: 0.01 }),
  numberField("limits", "patience", "Patience"),
  numberField("limits", "memory_limit", "Memory limit", { unit: "MB", factor: 1e6, hint: () => "1 MB is 1,000,000 bytes." }),
  numberField("limits", "max_expansions", "Expansions", { unit: "" }),
  numberField("parameters", "n_threads", "Threads", { hint: () => "A job waits until its worker has a free core for each thread, and has at most as many as a worker has cores." }),
];

const FIELDS = [...MAIN, ...MORE];

/** Returns the text of a number in the unit of the form. */
function shown(value: unknown, factor: number): string {
  return value == null ? "" : String(Number((Number(value) / factor).toPrecision(12)));
}

export const DEFAULTS = {
  name: "", candidates: about("candidates").default, categories: about("categories").default,
  polish: about("polish").default, balanced: false,
  ...Object.fromEntries(FIELDS.map((field) =>
    [field.key, field.group ? shown(definition(field.group, field.key).default, field.factor) : "20"])),
} as Values;

/** Returns the number for the request, or null if the field is empty. The server rejects other texts. */
function numeric(text: string, factor: number): number | string | null {
  if (text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? Number((value * factor).toPrecision(15)) : text;
}

export function requestBody(values: Values, datasetId: string, parent: string | null): Record<string, unknown> {
  const numbers = (group: Group) => Object.fromEntries(
    FIELDS.filter((field) => field.group === group).map((field) => [field.key, numeric(values[field.key], field.factor)]));
  const share = numeric(values.held_back, 0.01);
  return {
    dataset_id: datasetId,
    name: values.name.trim() || null,
    ...(parent && { parent_job_id: parent }),
    parameters: {
      ...numbers("parameters"),
      candidates: values.candidates,
      categories: values.categories,
      polish: values.polish,
      class_weight: values.balanced ? "balanced" : null,
    },
    limits: numbers("limits"),
    validation: share === 0 || share === null ? null : { fraction: share, seed: 0 },
  };
}

/** Returns the values of the form for the parameters of a job. */
export function valuesOf(job: Job): Values {
  const { parameters, limits, validation } = job;
  const given: Record<string, unknown> = { ...parameters, ...limits };
  const number = (field: NumberField) => shown([given[field.key]].flat()[0], field.factor);
  return {
    ...Object.fromEntries(FIELDS.map((field) => [field.key, number(field)])),
    name: job.name ?? "",
    held_back: validation && "fraction" in validation ? shown(validation.fraction, 0.01) : "0",
    candidates: parameters.candidates,
    categories: parameters.categories,
    polish: parameters.polish,
    balanced: parameters.class_weight === "balanced",
  } as Values;
}

/** Returns a random key. A request that is sent twice with the same key starts one job. */
export function requestKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
