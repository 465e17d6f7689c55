// The parameters of a search: their names, their values as text, and words for sentences.
import type { Parameters } from "./api/types.ts";
import { number } from "./format.ts";
import definitions from "./train/parameters.json";

export type ParameterKey = keyof Parameters;
export type Given = Partial<Record<ParameterKey, unknown>>;

interface Parameter {
  name: string; // of its field, its column and its line, everywhere
  say: (text: string) => string; // in a sentence or in the name of a run
  numeric?: true;
}

/** The parameters in the order of their importance. */
export const PARAMETERS: Record<ParameterKey, Parameter> = {
  max_depth: { name: "Depth", say: (text) => `depth ${text}`, numeric: true },
  max_changepoints: { name: "Change points", say: (text) => `${text} change ${text === "1" ? "point" : "points"}`, numeric: true },
  candidates: { name: "Where cuts may lie", say: (text) => `${text} cuts` },
  split_penalty: { name: "Penalty per split", say: (text) => `penalty ${text}`, numeric: true },
  changepoint_penalty: { name: "Penalty per further cut", say: (text) => `penalty ${text} per further cut`, numeric: true },
  min_samples_leaf: { name: "Rows per interval", say: (text) => `at least ${text} ${text === "1" ? "row" : "rows"} per interval`, numeric: true },
  candidate_leaves: { name: "Proposed cuts", say: (text) => `${text} proposed cuts`, numeric: true },
  class_weight: { name: "Class weights", say: (text) => (text === "balanced" ? "balanced classes" : `class weights ${text}`) },
  categories: { name: "Categories", say: (text) => `${text.replaceAll("_", "-")} categories` },
  probability_smoothing: { name: "Smoothing of probabilities", say: (text) => `smoothing ${text}`, numeric: true },
  polish: { name: "Polish", say: (text) => `polish ${text}` },
  criterion: { name: "Criterion of proposed cuts", say: (text) => `criterion ${text}` },
  heuristic: { name: "Estimate of subtrees", say: (text) => `${text} estimate` },
  or_selection: { name: "Order of splits", say: (text) => `${text} order of splits` },
  and_selection: { name: "Order of children", say: (text) => `${text} order of children` },
  n_threads: { name: "Threads", say: (text) => `${text} ${text === "1" ? "thread" : "threads"}`, numeric: true },
};

const KEYS = Object.keys(PARAMETERS) as ParameterKey[];
const DEFINITIONS = definitions.parameters as Record<string, { default: unknown; description: string } | undefined>;

/** What the name of a run says if it is not as usual; the depth is always said. */
const SAID: ParameterKey[] = ["max_depth", "max_changepoints", "candidates", "split_penalty", "changepoint_penalty", "min_samples_leaf"];

/** Returns the name of a parameter; one that this page does not know has its name in the API. */
export function parameterName(key: string): string {
  return (PARAMETERS as Record<string, Parameter | undefined>)[key]?.name ?? key;
}

export function describe(key: ParameterKey): string {
  return DEFINITIONS[key]?.description ?? "";
}

/** Returns a value of a parameter as text. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "number") return number(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  return typeof value === "object" ? Object.entries(value).map(([name, part]) => `${name}: ${valueText(part)}`).join(", ") : String(value);
}

/** The value as one number or text, to sort, to compare and to save. */
export function valueOf(given: Given | undefined, key: ParameterKey): string | number | null {
  const value = given?.[key];
  if (value === null || value === undefined) return null;
  return typeof value === "number" ? value : valueText(value);
}

/** "penalty 8.292". */
export function sayParameter(key: string, value: unknown): string {
  const known = (PARAMETERS as Record<string, Parameter | undefined>)[key];
  return known ? known.say(valueText(value)) : `${key} ${valueText(value)}`;
}

/** Describes a run by its depth and its unusual parameters: "depth 4, 1 change point". */
export function parameterWords(given: Given): string {
  return SAID.filter((key) => given[key] != null && (key === "max_depth" || given[key] !== DEFINITIONS[key]?.default))
    .map((key) => sayParameter(key, given[key])).join(", ");
}

/** Returns the parameters that differ between the runs. A run that does not tell its parameters does not count. */
export function differing(runs: (Given | undefined)[]): Set<ParameterKey> {
  const told = runs.filter((given) => given !== undefined);
  return new Set(KEYS.filter((key) => new Set(told.map((given) => valueOf(given, key))).size > 1));
}
