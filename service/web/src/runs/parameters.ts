// The parameters of runs: columns for tables, and words for names.
import type { Parameters } from "../api/types.ts";
import { counted, number } from "../format.ts";
import definitions from "../train/parameters.json";

export type Given = Partial<Record<keyof Parameters, unknown>>;

interface Parameter {
  key: keyof Parameters;
  name: string;
  words?: (value: never) => string; // for the name of a run
}

/** The parameters in the order of their importance; the names are those of the form. */
export const PARAMETERS: Parameter[] = [
  { key: "max_depth", name: "Depth", words: (value: number) => `depth ${value}` },
  { key: "max_changepoints", name: "Change points", words: (value: number) => counted(value, "change point") },
  { key: "candidates", name: "Candidates", words: (value: string) => `${value} candidates` },
  { key: "split_penalty", name: "Penalty per split", words: (value: number) => `penalty ${number(value)}` },
  { key: "changepoint_penalty", name: "Penalty per further cut", words: (value: number) => `penalty ${number(value)} per further cut` },
  { key: "min_samples_leaf", name: "Rows per interval", words: (value: number) => `at least ${counted(value, "row")}` },
  { key: "candidate_leaves", name: "Proposed cuts" },
  { key: "class_weight", name: "Class weights" },
  { key: "categories", name: "Categories" },
  { key: "probability_smoothing", name: "Smoothing of probabilities" },
  { key: "polish", name: "Polish" },
  { key: "criterion", name: "Criterion" },
  { key: "heuristic", name: "Heuristic" },
  { key: "or_selection", name: "Choice of splits" },
  { key: "and_selection", name: "Choice of children" },
  { key: "n_threads", name: "Threads" },
];

const defaults = definitions.parameters as Record<string, { default: unknown; description: string }>;

export function describe(key: keyof Parameters): string {
  return defaults[key]?.description ?? "";
}

/** The value as one number or text, to sort, to compare and to save. */
export function valueOf(given: Given | undefined, key: keyof Parameters): string | number | null {
  const value = given?.[key];
  if (value === null || value === undefined) return null;
  if (typeof value === "number" || typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.join(" ");
  return Object.entries(value).map(([name, weight]) => `${name}: ${weight}`).join(", ");
}

/** Describes a run by its depth and its unusual parameters: "depth 4, 1 change point". */
export function parameterWords(given: Given): string {
  return PARAMETERS.filter(({ key, words }) =>
    words && given[key] != null && (key === "max_depth" || given[key] !== defaults[key]?.default),
  ).map(({ key, words }) => words!(given[key] as never)).join(", ");
}

/** Returns the parameters that differ between the runs. A run that does not tell its parameters does not count. */
export function differing(runs: (Given | undefined)[]): Set<keyof Parameters> {
  const told = runs.filter((given) => given !== undefined);
  return new Set(PARAMETERS.map(({ key }) => key).filter((key) => new Set(told.map((given) => valueOf(given, key))).size > 1));
}
