// The fields of the form. Defaults, ranges and descriptions come from parameters.json, which `make openapi` writes.
import { PARAMETERS } from "../parameters.ts";
import definitions from "./parameters.json";

export type Group = "parameters" | "limits";

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

export type NumberKey =
  | "max_depth" | "max_changepoints" | "split_penalty" | "changepoint_penalty" | "min_samples_leaf" | "candidate_leaves" | "held_back"
  | "probability_smoothing" | "n_threads" | "time_limit" | "max_expansions" | "memory_limit" | "gap" | "patience" | "folds" | "total_time";

export type ChoiceKey = "candidates" | "categories" | "criterion" | "class_weight";

export interface NumberField {
  key: NumberKey;
  label: string;
  help: (value: string) => string;
  unit?: string;
  min?: number;
  max?: number;
  step: string;
  optional: boolean;
  group?: Group;
  factor: number; // of the unit in the request
  listed: boolean; // a sweep can try several values
}

export interface ChoiceField { key: ChoiceKey; label: string; help: string; choices: Record<string, string> }

interface Changes { unit?: string; factor?: number; hint?: (value: number) => string; about?: string }

export function definition(group: Group, key: string): Definition {
  return (definitions[group] as Record<string, Definition>)[key];
}

export const about = (key: string): Definition => definition("parameters", key);

/** The numbers of which a sweep can try several values. */
const LISTED = [
  "max_depth", "max_changepoints", "split_penalty", "changepoint_penalty", "min_samples_leaf", "probability_smoothing", "candidate_leaves",
];

/** The limits that jobs of a sweep have, too. */
export const TRIAL_LIMITS = ["time_limit", "max_expansions", "memory_limit"];

const parameterField = (key: NumberKey & keyof typeof PARAMETERS, changes?: Changes) => numberField("parameters", key, PARAMETERS[key].name, changes);

function numberField(group: Group, key: NumberKey, label: string, changes: Changes = {}): NumberField {
  const { description, integer, optional, min, max, unit } = definition(group, key);
  const { factor = 1, hint } = changes;
  const bound = (value: string) => Math.min(max!, Math.max(min!, Math.floor(Number(value))));
  return {
    key, label, group, factor, optional: optional ?? false, listed: LISTED.includes(key),
    unit: changes.unit ?? unit ?? undefined, step: integer && factor === 1 ? "1" : "any",
    min: min && min / factor, max: max && max / factor,
    help: (value) => {
      const told = hint && value.trim() && Number.isFinite(Number(value)) ? hint(bound(value)) : "";
      return [changes.about ?? description, optional && "Empty means no limit.", told].filter(Boolean).join(" ").replaceAll("`", "");
    },
  };
}

const leavesHint = (depth: number) => `A depth of ${depth} gives up to ${2 ** depth} leaves and takes longer to prove than a smaller one.`;

const cutsHint = (cuts: number) => cuts === 1
  ? "Values up to the threshold go left and all others go right, as in an ordinary tree."
  : `Up to ${cuts} of them divide a feature into ${cuts + 1} intervals, which go left and right in turn.`;

export const HELD_BACK: NumberField = {
  key: "held_back", label: "Rows held back", unit: "%", min: 0, max: 90, step: "any", optional: false, factor: 0.01, listed: false,
  help: () => "Share of the rows that the search does not use. The accuracy on these rows shows how well the tree does on new data.",
};

export const FOLDS: NumberField = {
  key: "folds", label: "Folds", min: 2, max: 50, step: "1", optional: false, factor: 1, listed: false,
  help: () => "The rows are divided into so many parts. Each part is held out once: a tree of the other rows is scored on it.",
};

export const TOTAL_TIME: NumberField = {
  key: "total_time", label: "Time for all of them", unit: "minutes", min: 0, step: "any", optional: true, factor: 60, listed: false,
  help: () => "After this time no more combinations are tried. Empty means no limit.",
};

export const MAIN: NumberField[] = [
  parameterField("max_depth", { hint: leavesHint }),
  parameterField("max_changepoints", { hint: cutsHint }),
  parameterField("split_penalty"),
  parameterField("changepoint_penalty"),
  numberField("limits", "time_limit", "Time limit"),
  HELD_BACK,
];

export const MORE: NumberField[] = [
  parameterField("candidate_leaves", {
    about: "Number of leaves of the CART trees that propose change points, or number of quantiles of a feature. Widening chooses the numbers itself.",
  }),
  parameterField("min_samples_leaf"),
  parameterField("probability_smoothing"),
  numberField("limits", "gap", "Stop at a gap of", { unit: "%", factor: 0.01 }),
  numberField("limits", "patience", "Patience"),
  numberField("limits", "memory_limit", "Memory limit", { unit: "MB", factor: 1e6, hint: () => "1 MB is 1,000,000 bytes." }),
  numberField("limits", "max_expansions", "Expansions", { unit: "" }),
  parameterField("n_threads", { hint: () => "A job waits until its worker has a free core for each thread, and has at most as many as a worker has cores." }),
];

export const NUMBERS = [...MAIN, ...MORE, FOLDS, TOTAL_TIME];

const choiceField = (key: ChoiceKey): ChoiceField =>
  ({ key, label: PARAMETERS[key].name, help: about(key).description, choices: about(key).choices! });

export const CHOICES: Record<ChoiceKey, ChoiceField> = {
  candidates: choiceField("candidates"),
  categories: choiceField("categories"),
  criterion: choiceField("criterion"),
  class_weight: {
    key: "class_weight", label: PARAMETERS.class_weight.name,
    help: "Give every class the same total weight if the interesting class is rare.",
    choices: { none: "every row weighs the same", balanced: "every class weighs the same" },
  },
};
