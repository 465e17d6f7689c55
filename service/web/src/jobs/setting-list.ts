// The parameters and limits of a job, for its view.
import type { Job } from "../api/types.ts";
import { number, percent } from "../format.ts";
import definitions from "../train/parameters.json";
import { MAIN, MORE } from "../train/parameters.ts";

export interface Setting { name: string; label: string; value: string; about: string; usual: boolean }

interface Definition { description: string; default: unknown; unit?: string | null; choices?: Record<string, string> }

/** The labels of the form, and of what has no number field there. */
const LABELS: Record<string, string> = {
  ...Object.fromEntries([...MAIN, ...MORE].map(({ key, label }) => [key, label])),
  candidates: "Where cuts may lie", categories: "Categories", class_weight: "Class weights", polish: "Polish",
  or_selection: "Order of splits", and_selection: "Order of children", heuristic: "Estimate of subtrees", criterion: "Impurity",
  gap_absolute: "Stop at an absolute gap of",
};
const UNLIMITED = "no limit";

function valueWords(value: unknown, { unit, default: usual }: Definition): string {
  if (value === null || value === undefined) return usual === null ? "none" : UNLIMITED;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return `${number(value)}${unit ? ` ${unit}` : ""}`;
  if (Array.isArray(value)) return value.map(String).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function heldBack({ validation }: Job): Setting {
  const words = !validation
    ? "none"
    : "fraction" in validation
      ? `${percent(validation.fraction)}, seed ${validation.seed}`
      : `marked by ${validation.column}${validation.value == null ? "" : ` = ${String(validation.value)}`}`;
  const about = "Rows that the search does not use. The accuracy on these rows shows how well the tree does on new data.";
  return { name: "validation", label: "Rows held back", value: words, about, usual: false };
}

/** Returns every parameter and limit of the job, and whether it has its default value. */
export function settingsOf(job: Job): Setting[] {
  const groups = (["parameters", "limits"] as const).flatMap((group) => {
    const given = job[group] as Record<string, unknown>;
    return Object.entries(definitions[group] as Record<string, Definition>).map(([name, definition]) => ({
      name, label: LABELS[name] ?? name, about: definition.description, value: valueWords(given[name], definition),
      usual: JSON.stringify(given[name] ?? null) === JSON.stringify(definition.default),
    }));
  });
  return [heldBack(job), ...groups];
}

/** Returns what a request for the same search contains. */
export function settingsJson({ dataset_id, parameters, limits, validation }: Job): string {
  return JSON.stringify({ dataset_id, parameters, limits, validation }, null, 2);
}
