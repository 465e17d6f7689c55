// The parameters and limits of a job, for its view.
import type { Job } from "../api/types.ts";
import { percent } from "../format.ts";
import { parameterName, valueText } from "../parameters.ts";
import definitions from "../train/parameters.json";
import { HELD_BACK, MAIN, MORE } from "../train/parameters.ts";

export interface Setting { name: string; label: string; value: string; json: string; about: string; usual: boolean }

interface Definition { description: string; default: unknown; unit?: string | null; choices?: Record<string, string> }

/** The labels of limits: those of the form, and of the one that has no field there. */
const LIMITS: Record<string, string> = {
  ...Object.fromEntries([...MAIN, ...MORE].map(({ key, label }) => [key, label])), gap_absolute: "Stop at an absolute gap of",
};
const UNLIMITED = "no limit";

function valueWords(value: unknown, { unit, default: usual }: Definition): string {
  if (value === null || value === undefined) return usual === null ? "none" : UNLIMITED;
  return `${valueText(value)}${typeof value === "number" && unit ? ` ${unit}` : ""}`;
}

function heldBack({ validation }: Job): Setting {
  const words = !validation
    ? "none"
    : "fraction" in validation
      ? `${percent(validation.fraction)}, seed ${validation.seed}`
      : `marked by ${validation.column}${validation.value == null ? "" : ` = ${String(validation.value)}`}`;
  const about = "Rows that the search does not use. The accuracy on these rows shows how well the tree does on new data.";
  return { name: "validation", label: HELD_BACK.label, value: words, json: JSON.stringify(validation), about, usual: false };
}

/** Returns every parameter and limit of the job, and whether it has its default value. */
export function settingsOf(job: Job): Setting[] {
  const groups = (["parameters", "limits"] as const).flatMap((group) => {
    const given = job[group] as Record<string, unknown>;
    return Object.entries(definitions[group] as Record<string, Definition>).map(([name, definition]) => ({
      name, label: LIMITS[name] ?? parameterName(name), about: definition.description, value: valueWords(given[name], definition),
      json: JSON.stringify(given[name] ?? null),
      usual: JSON.stringify(given[name] ?? null) === JSON.stringify(definition.default),
    }));
  });
  return [heldBack(job), ...groups];
}

/** Returns what a request for the same search contains. */
export function settingsJson({ dataset_id, parameters, limits, validation }: Job): string {
  return JSON.stringify({ dataset_id, parameters, limits, validation }, null, 2);
}
