// The contents of the form, and how they are read from a job, a sweep or a link.
import type { Job, Sweep } from "../api/types.ts";
import { METRICS, SELECTS } from "../sweeps/words.ts";
import { about, CHOICES, type ChoiceKey, definition, NUMBERS, type NumberField, type NumberKey } from "./parameters.ts";

export type TextKey = NumberKey | ChoiceKey | "metric" | "select" | "fold_column";

/** Parts of a copied request for which the form has no fields. */
export interface Kept {
  of: "job" | "sweep";
  parameters: Record<string, unknown>;
  rest: Record<string, unknown>; // other parts of the request, which only a request of the same kind has
  seed: number; // that draws the rows held back
}

export type Values = Record<TextKey, string> & { name: string | null; polish: boolean; kept: Kept | null }; // name: null until it is edited

export const PATH = "path"; // as a penalty: all of them

/** Returns the text of a number in the unit of the form. */
function shown(value: unknown, factor = 1): string {
  return value == null ? "" : String(Number((Number(value) / factor).toPrecision(12)));
}

/** Returns the entries of a field: "2, 3" has two. */
export function entries(text: string): string[] {
  return text.split(/[,;\s]+/).filter(Boolean);
}

/** Returns the parameters that are drawn from an interval, which was copied from a sweep. */
export function intervalsOf({ kept }: Values): string[] {
  return kept?.of === "sweep" ? Object.keys((kept.rest.space as object | undefined) ?? {}) : [];
}

/** Returns whether the values ask for a sweep. */
export function several(values: Values): boolean {
  const listed = [...NUMBERS.filter((field) => field.listed).map((field) => field.key), ...Object.keys(CHOICES) as ChoiceKey[]];
  return intervalsOf(values).length > 0 || values.split_penalty.trim() === PATH || listed.some((key) => entries(values[key]).length > 1);
}

const usual = (field: NumberField) => (field.group ? shown(definition(field.group, field.key).default, field.factor) : "");

export const OWN: Values = {
  ...Object.fromEntries(NUMBERS.map((field) => [field.key, usual(field)])) as Record<NumberKey, string>,
  candidates: String(about("candidates").default), categories: String(about("categories").default),
  criterion: String(about("criterion").default), class_weight: "none",
  polish: Boolean(about("polish").default),
  held_back: "20", folds: "5", total_time: "60", fold_column: "", metric: "accuracy", select: "ONE_STANDARD_ERROR", name: null, kept: null,
};

/** "Find the best tree for me". Without a time limit, a job gets a share of the time for all. */
export const TUNE: Values = {
  ...OWN, max_depth: "2, 3, 4, 5", max_changepoints: "1, 2, 3", split_penalty: PATH, total_time: "5", time_limit: "",
};

/** What "Find the best tree for me" shows. A sweep with other values is opened as "Set the parameters myself". */
export const TUNED: TextKey[] = [
  "max_depth", "max_changepoints", "min_samples_leaf", "class_weight", "time_limit", "total_time", "folds", "fold_column", "held_back",
  "metric", "select", "n_threads",
];

const SHARE = 20; // of the time for all, for one job

/** Returns the seconds that each job has when the form does not say it. */
export function trialSeconds(values: Values): number {
  const total = Number(values.total_time);
  return total > 0 ? Math.max(1, (60 * total) / SHARE) : 60;
}

type Loose = Record<string, unknown>;

/** Returns the parameters that have no field, or a value that their field cannot show. */
function keptParameters(parameters: Loose): Loose {
  const fits = (key: string, value: unknown) => {
    if (key === "polish") return true;
    if (key === "class_weight") return value === null || value === "balanced";
    if (key in CHOICES) return typeof value === "string";
    return NUMBERS.some((field) => field.group === "parameters" && field.key === key) && typeof value === "number";
  };
  return Object.fromEntries(Object.entries(parameters).filter(([key, value]) => !fits(key, value) && value !== about(key)?.default));
}

/** Returns the form's texts for parameters; those that are left out keep their defaults. */
function parameterTexts(parameters: Loose): Partial<Values> {
  const found: Loose = {};
  const text = (value: unknown) => (typeof value === "number" ? shown(value) : String(value));
  for (const [key, value] of Object.entries(parameters)) {
    if (key === "polish") found.polish = value;
    else if (key === "class_weight") found.class_weight = [value].flat().map((each) => each ?? "none").join(", ");
    else if (key in OWN && value !== null && value !== undefined) found[key] = [value].flat().map(text).join(", ");
  }
  return found as Partial<Values>;
}

function limitTexts(limits: Loose): Partial<Values> {
  const known = NUMBERS.filter((field) => field.group === "limits" && field.key in limits);
  return Object.fromEntries(known.map((field) => [field.key, shown(limits[field.key], field.factor)]));
}

/** Returns the form for a job, or for the body of a request for one. */
export function valuesOfJob(job: Pick<Job, "parameters" | "limits" | "validation"> & { sweep_id?: string | null }): Values {
  const { parameters, limits, validation } = job;
  const kept = keptParameters(parameters);
  const byColumn = validation && "column" in validation ? { validation } : {};
  return {
    ...OWN,
    ...parameterTexts(without(parameters, kept)), ...limitTexts(limits),
    // The sweep of a job, and not the job itself, says which rows it held back.
    held_back: validation && "fraction" in validation ? shown(validation.fraction, 0.01) : job.sweep_id ? OWN.held_back : "0",
    kept: some({ of: "job", parameters: kept, rest: byColumn, seed: validation && "fraction" in validation ? validation.seed ?? 0 : 0 }),
  };
}

const without = (given: Loose, others: Loose) => Object.fromEntries(Object.entries(given).filter(([key]) => !(key in others)));

export const some = (kept: Kept) => (kept.seed || Object.keys({ ...kept.parameters, ...kept.rest }).length ? kept : null);

/** Returns the entries that are not as usual. */
function unusual(given: Loose, ordinary: Loose): Loose {
  return Object.fromEntries(Object.entries(ordinary).filter(([name, value]) => (given[name] ?? value) !== value).map(([name]) => [name, given[name]]));
}

const isList = (value: unknown) => value === PATH || Array.isArray(value);

/** Returns the form for a sweep, or for the body of a request for one, and whether "Find the best tree for me" shows all of it. */
export function valuesOfSweep(sweep: Partial<Sweep>): { tune: boolean; values: Values } {
  const given = sweep as { [name: string]: Loose | undefined };
  const { space = {}, fixed = {}, validation = {}, limits = {}, trial_limits: trial = {} } = given;
  const tried = Object.entries(space).filter(([, value]) => value !== null);
  const parts = {
    space: Object.fromEntries(tried.filter(([, value]) => !isList(value))), // intervals
    validation: unusual(validation, { repeats: 1, stratified: true, seed: 0 }),
    limits: unusual(limits, { max_trials: 200, max_failed_trials: 10, patience_trials: null }),
  };
  const rest = {
    ...unusual(given, { strategy: "GRID", seed: 0, changepoint_ratio: 0.5, refit: true }),
    ...(sweep.constraints?.length && { constraints: sweep.constraints }),
    ...Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length)),
  };
  const kept = keptParameters(fixed);
  const values: Values = {
    ...OWN,
    ...parameterTexts({ ...without(fixed, kept), ...Object.fromEntries(tried.filter(([, value]) => isList(value))) }),
    ...limitTexts(trial),
    total_time: "time_limit" in limits ? shown(limits.time_limit, 60) : OWN.total_time,
    folds: shown(validation.folds ?? 5), fold_column: String(validation.column ?? ""),
    held_back: sweep.test ? shown(sweep.test.fraction, 0.01) : "0",
    metric: sweep.metric ?? OWN.metric, select: sweep.select ?? OWN.select,
    kept: some({ of: "sweep", parameters: kept, rest, seed: sweep.test?.seed ?? 0 }),
  };
  const free = [...TUNED, "split_penalty", "changepoint_penalty", "polish"];
  const tunes = (Object.keys(OWN) as (keyof Values)[]).every((key) => free.includes(key) || values[key] === OWN[key]);
  return { tune: values.split_penalty === PATH && tunes, values };
}

/** Returns the entries of a link that preset fields, such as `split_penalty=2`. */
export function presets(query: URLSearchParams): Partial<Record<TextKey, string>> {
  const words: Record<string, object> = { metric: METRICS, select: SELECTS };
  const isField = (key: string, value: string) => key in OWN && typeof OWN[key as TextKey] === "string" && (!words[key] || value in words[key]);
  const unit = (key: string) => NUMBERS.find((field) => field.group === "limits" && field.key === key)?.factor;
  return Object.fromEntries([...query].filter(([key, value]) => isField(key, value)).map(([key, value]) => {
    const factor = unit(key);
    return [key, factor && Number.isFinite(Number(value)) ? shown(value, factor) : value];
  }));
}
