// Names for new jobs and sweeps, made of the dataset and the parameters.
import { get } from "../api/client.ts";
import type { JobPage, SweepPage } from "../api/types.ts";
import { PARAMETERS } from "../parameters.ts";
import { entries, OWN, PATH, several, TUNE, type Values } from "./values.ts";

const LENGTH = 200; // of a name

/** The parameters that a name contains. The first two are always there, others if they are not as usual. */
const SAID = [
  "max_depth", "max_changepoints", "split_penalty", "changepoint_penalty", "min_samples_leaf", "candidates", "candidate_leaves", "categories",
  "criterion", "class_weight", "probability_smoothing",
] as const;
const ALWAYS = 2;

/** Shortens a number to four digits. */
const short = (text: string) => (Number.isFinite(Number(text)) ? String(Number(Number(text).toPrecision(4))) : text);

export function proposedName(dataset: string, values: Values, tune: boolean): string {
  const usual = tune ? TUNE : OWN;
  const words = SAID.filter((key, i) => (!tune && i < ALWAYS) || values[key] !== usual[key])
    .map((key) => (values[key] === PATH ? "every penalty" : PARAMETERS[key].say(entries(values[key]).map(short).join("/"))));
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
