// Names for new jobs and sweeps, made of the dataset and the parameters.
import { get } from "../api/client.ts";
import type { JobPage, SweepPage } from "../api/types.ts";
import { entries, OWN, PATH, several, TUNE, type TextKey, type Values } from "./values.ts";

const LENGTH = 200; // of a name

/** Words for the parameters that a name contains. The first two are always there, others if they are not as usual. */
const WORDS: [TextKey, (text: string) => string][] = [
  ["max_depth", (text) => `depth ${text}`],
  ["max_changepoints", (text) => (text === "1" ? "1 cut" : `${text} cuts`)],
  ["split_penalty", (text) => (text === PATH ? "every penalty" : `penalty ${text}`)],
  ["changepoint_penalty", (text) => `cut penalty ${text}`],
  ["min_samples_leaf", (text) => `${text} rows per interval`],
  ["candidates", (text) => text],
  ["candidate_leaves", (text) => `${text} proposed cuts`],
  ["categories", (text) => text.replace("_", "-")],
  ["criterion", (text) => text],
  ["class_weight", (text) => text.replace("none", "not balanced")],
  ["probability_smoothing", (text) => `smoothing ${text}`],
];
const ALWAYS = 2;

export function proposedName(dataset: string, values: Values, tune: boolean): string {
  const usual = tune ? TUNE : OWN;
  const words = WORDS.filter(([key], i) => (!tune && i < ALWAYS) || values[key] !== usual[key])
    .map(([key, say]) => say(entries(values[key]).join("/")));
  if (tune) words.unshift("best tree");
  if (several(values)) {
    if (values.metric !== OWN.metric) words.push(values.metric.replaceAll("_", " "));
    if (tune && values.total_time) words.push(`${values.total_time} min`);
  }
  return [dataset, ...words].join(", ").slice(0, LENGTH);
}

/** Loads the names of the latest jobs and sweeps. */
export async function latestNames(signal: AbortSignal): Promise<Set<string>> {
  const [jobs, sweeps] = await Promise.all([
    get<JobPage>("/v1/jobs?page_size=100", signal), get<SweepPage>("/v1/sweeps?page_size=100", signal),
  ]);
  return new Set([...jobs.items, ...sweeps.items].map((item) => item.name ?? ""));
}

/** Returns the name, or "name (2)" if there is such a job already. */
export function distinct(name: string, taken: Set<string>): string {
  const plain = name.replace(/ \(\d+\)$/, "");
  for (let number = 2, next = plain; ; number += 1) {
    if (!taken.has(next)) return next;
    next = `${plain.slice(0, LENGTH - 6)} (${number})`;
  }
}
