// The requests that the form makes, and what the server says about them.
import { ApiError, isAt } from "../api/client.ts";
import type { Job, ProblemFix, Sweep } from "../api/types.ts";
import { CHOICES, type ChoiceKey, definition, type Group, NUMBERS, TRIAL_LIMITS } from "./parameters.ts";
import { entries, intervalsOf, OWN, PATH, several, type TextKey, trialSeconds, type Values, valuesOfJob, valuesOfSweep } from "./values.ts";

type Body = Record<string, unknown>;
export interface Request { path: "/v1/jobs" | "/v1/sweeps"; body: Body }

/** Returns the number for the request, or null if the field is empty. The server rejects other texts. */
function numeric(text: string, factor = 1): number | string | null {
  if (text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? Number((value * factor).toPrecision(15)) : text;
}

const weight = (text: string) => (text === "none" ? null : text);

/** Returns the values of each parameter, as a list. */
function parameterLists(values: Values): Record<string, unknown[]> {
  const numbers = NUMBERS.filter((field) => field.group === "parameters").map((field) => {
    const texts = field.listed ? entries(values[field.key]) : [values[field.key]];
    return [field.key, texts.length ? texts.map((text) => numeric(text, field.factor)) : [null]];
  });
  const choices = (Object.keys(CHOICES) as ChoiceKey[]).map((key) =>
    [key, entries(values[key]).map((text) => (key === "class_weight" ? weight(text) : text))]);
  return Object.fromEntries([...numbers, ...choices]);
}

function limitsOf(values: Values, keys?: string[]): Body {
  const known = NUMBERS.filter((field) => field.group === "limits" && (!keys || keys.includes(field.key)));
  return Object.fromEntries(known.map((field) => [field.key, numeric(values[field.key], field.factor)]));
}

const heldBack = (values: Values) => {
  const share = numeric(values.held_back, 0.01);
  return share === 0 || share === null ? null : { fraction: share, seed: values.kept?.seed ?? 0 };
};

function jobBody(values: Values): Body {
  const single = Object.fromEntries(Object.entries(parameterLists(values)).map(([key, list]) => [key, list[0]]));
  return {
    parameters: { ...single, polish: values.polish },
    limits: limitsOf(values),
    validation: heldBack(values),
  };
}

/** The parameters of which a sweep tries several values unless it is told otherwise. */
const TRIED = ["max_depth", "max_changepoints", "split_penalty"];

function sweepBody(values: Values): Body {
  const space: Body = {};
  const fixed: Body = {};
  const isPath = values.split_penalty.trim() === PATH;
  for (const [key, list] of Object.entries(parameterLists(values))) {
    if (isPath && key === "split_penalty") space[key] = PATH;
    else if (isPath && key === "changepoint_penalty") continue;
    else if (list.length > 1) space[key] = list;
    else if (TRIED.includes(key) || values[key as TextKey] !== OWN[key as TextKey]) fixed[key] = list[0];
  }
  if (!isPath && values.polish !== OWN.polish) fixed.polish = values.polish;
  const trial = limitsOf(values, TRIAL_LIMITS);
  const derived = isPath && trial.time_limit === null;
  return {
    space, fixed,
    validation: values.fold_column ? { column: values.fold_column } : { folds: numeric(values.folds) },
    test: heldBack(values),
    metric: values.metric,
    select: values.select,
    limits: { time_limit: numeric(values.total_time, 60) },
    trial_limits: derived ? { ...trial, time_limit: trialSeconds(values) } : trial,
  };
}

/** Returns the request of the form: a job, or a sweep if a field has several values. */
export function requestOf(values: Values, datasetId: string, name: string, parent: string | null): Request {
  const { kept } = values;
  const head = { dataset_id: datasetId, name: name.slice(0, 200) || null };
  if (several(values)) {
    const body = merged({ ...head, ...sweepBody(values) }, { fixed: kept?.parameters ?? {} });
    if (kept?.of !== "sweep") return { path: "/v1/sweeps", body };
    const drawn = Object.fromEntries(intervalsOf(values).map((name) => [name, null])); // not fixed
    return { path: "/v1/sweeps", body: merged(merged(body, { fixed: drawn }), kept.rest) };
  }
  const body = merged({ ...head, ...(parent && { parent_job_id: parent }), ...jobBody(values) }, { parameters: kept?.parameters ?? {} });
  return { path: "/v1/jobs", body: kept?.of === "job" ? { ...body, ...kept.rest } : body };
}

/** Applies a merge patch (RFC 7396) to the body of a request. */
function merged(document: unknown, patch: Body): Body {
  const result = { ...(isObject(document) ? document : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = isObject(value) ? merged(result[name], value) : value;
  }
  return result;
}

const isObject = (value: unknown): value is Body => typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the form after a change that the server proposes. */
export function repaired(request: Request, fix: ProblemFix): { values: Values; datasetId: string } {
  const body = merged(request.body, fix.options as Body);
  const values = request.path === "/v1/sweeps"
    ? valuesOfSweep(body as Partial<Sweep>).values
    : valuesOfJob({ parameters: {}, limits: {}, validation: null, ...body } as unknown as Job);
  return { values, datasetId: String(body.dataset_id) };
}

const SWEEP_PLACES: Partial<Record<TextKey | "polish", string>> = {
  folds: "/body/validation/folds", fold_column: "/body/validation/column", held_back: "/body/test", total_time: "/body/limits/time_limit",
  metric: "/body/metric", select: "/body/select",
};

/** Returns the parts of the request that belong to a field. */
function placesOf(key: TextKey | "polish", path: Request["path"]): string[] {
  const group: Group = definition("limits", key) ? "limits" : "parameters";
  if (path === "/v1/jobs") return [key === "held_back" ? "/body/validation" : `/body/${group}/${key}`];
  if (SWEEP_PLACES[key]) return [SWEEP_PLACES[key]];
  return group === "limits" ? [`/body/trial_limits/${key}`] : [`/body/space/${key}`, `/body/fixed/${key}`];
}

/** Returns what the server says about a field of the form. */
export function complaintAbout(error: unknown, key: TextKey | "polish", path: Request["path"]): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const places = placesOf(key, path);
  const found = error.errors.filter((entry) => places.some((place) => isAt(entry.pointer, place))).map((entry) => entry.message);
  return found.length ? [...new Set(found)].join(" ") : undefined;
}

/** Returns the places of all fields that the form shows, so that other errors are shown elsewhere. */
export function placedAt(keys: (TextKey | "polish")[], path: Request["path"]): string[] {
  return ["/body/dataset_id", "/body/name", ...keys.flatMap((key) => placesOf(key, path))];
}

/** Returns a random key. A request that is sent twice with the same key starts one job. */
export function requestKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
