// What is known about a tree, in sentences: how often it is wrong, and what is proven.
import type { Metrics } from "../api/types.ts";
import { counted, number, orDash, percent, roughPercent } from "../format.ts";
import { spaceWords } from "../words.ts";

type Scores = Metrics["train"];

/** What jobs, incumbents and models say about the cost of a tree. */
export interface Proof {
  objective: number;
  upper_bound: number;
  lower_bound: number;
  proven_optimal: boolean;
  beyond_space: boolean;
  proven_space: string;
  space?: string;
  explored?: number | null;
}

interface Measured {
  rows: number;
  total: number; // the weight of the rows
  wrong: number; // the weight of the misclassified rows
  weighted: boolean; // if not, weights are numbers of rows
}

const close = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

/** Removes rounding errors of sums. */
const snapped = (value: number) => (close(value, Math.round(value)) ? Math.round(value) : value);

export function measured(scores: Scores): Measured {
  const { rows, accuracy, per_class: classes, confusion_matrix: matrix } = scores;
  const total = snapped(classes.reduce((sum, { support }) => sum + support, 0));
  const right = matrix ? matrix.counts.reduce((sum, counts, i) => sum + counts[i], 0) : accuracy * total;
  const wrong = snapped(total - right);
  return { rows, total, wrong, weighted: total !== rows || !Number.isInteger(wrong) };
}

export function isWeighted(scores: Scores | null | undefined): boolean {
  return scores ? measured(scores).weighted : false;
}

/** "44 of 480 training rows wrong". */
export function trainingWords(scores: Scores, datasetName?: string): string {
  const { rows, total, wrong, weighted } = measured(scores);
  const of = datasetName ? ` of ${datasetName}` : "";
  if (weighted) return `Weight ${number(wrong)} of ${number(total)} of the training rows${of} wrong`;
  return `${wrong === 0 ? "None" : number(wrong)} of ${counted(rows, "training row")}${of} wrong`;
}

/** "85 % ± 6", or "100 % (97 to 100 %)" near the ends, where the interval is lopsided. */
export function accuracyWords({ accuracy, accuracy_interval: interval }: Pick<Scores, "accuracy" | "accuracy_interval">): string {
  if (!interval) return percent(accuracy, 0);
  const half = (interval.high - interval.low) / 2;
  const digits = half < 0.01 ? 1 : 0;
  const ends = Math.min(accuracy - interval.low, interval.high - accuracy);
  if (ends < half / 2) return `${percent(accuracy, digits)} (${(100 * interval.low).toFixed(digits)} to ${percent(interval.high, digits)})`;
  return `${percent(accuracy, digits)} ± ${(100 * half).toFixed(digits)}`;
}

/** "85 % ± 6 right on 120 rows", or "85 % ± 6 of the weight right on 120 rows". */
export function rightWords(scores: Scores, noun = "row"): string {
  return `${accuracyWords(scores)}${isWeighted(scores) ? " of the weight" : ""} right on ${counted(scores.rows, noun)}`;
}

/** "85 % ± 6 right on 120 held-back rows". */
export function heldBackWords(scores: Scores): string {
  return rightWords(scores, "held-back row");
}

/** "95 % interval: 77.6 % to 90.3 %". */
export function intervalWords({ accuracy_interval: interval }: Pick<Scores, "accuracy_interval">): string | undefined {
  return interval ? `95 % interval: ${percent(interval.low)} to ${percent(interval.high)}` : undefined;
}

/** "(CART 64 %)", without CART the most frequent class. */
export function comparisonWords({ cart, majority }: Metrics["baselines"]): string {
  const other = cart?.validation ?? majority?.validation;
  return other ? ` (${cart?.validation ? "CART" : "most frequent class"} ${percent(other.accuracy, 0)})` : "";
}

export const NOTHING_HELD_BACK = "No rows were held back, so it is not known how the tree does on new rows";

const proposes = (space: string) => space !== "all";

interface Bounds { lower_bound?: number | null; upper_bound?: number | null }

/** Returns whether nothing is known about how good a tree can be, although there are bounds. */
export function unbounded({ lower_bound: lower, upper_bound: upper }: Bounds): boolean {
  return (lower ?? 0) <= 0 && (upper ?? 0) > 0;
}

/** "40.7 %". A lower bound of 0 is no bound, so it does not make a gap of 100 %. */
export function gapWords(bounds: Bounds & { gap_relative?: number | null }): string {
  return unbounded(bounds) ? "unknown" : orDash(bounds.gap_relative, percent);
}

export function lowerBoundWords(bounds: Bounds, running = false): string {
  return unbounded(bounds) ? (running ? "none yet" : "none") : orDash(bounds.lower_bound, number);
}

/** "No bound yet: 3 % explored". */
function noBoundWords(explored: number | null | undefined, running: boolean): string {
  const share = explored ? `: ${roughPercent(explored)} explored` : "";
  return `${running ? "No bound yet" : "No bound is known"}${share}`;
}

/** Says what is proven. A cost is a number of wrong rows only without weights and penalties. */
export function proofSentence(metrics: Partial<Pick<Metrics, "train">>, proof: Proof, running = false): string {
  const { objective, upper_bound: upper, lower_bound: lower, proven_optimal: proven } = proof;
  const known = metrics.train && measured(metrics.train);
  const rows = known && !known.weighted && close(objective, known.wrong);
  const better = rows ? "does better than" : "costs less than";
  const cost = rows ? "" : `The cost of the tree, misclassified weight plus penalties, is ${number(objective)}. `;
  const none = `no tree over ${proposes(proof.space || proof.proven_space) ? "the searched cuts" : "all cuts"}`;
  const beyond = proof.beyond_space && objective < upper;
  const saved = `polishing moved cuts beyond them and saved ${number(snapped(upper - objective))} more`;
  if (proven && objective <= 0) return "Proven: no tree can do better.";
  if (proven) return `${cost}Proven: ${none} ${better} ${number(upper)}${beyond ? `; ${saved}` : ""}.`;
  if (unbounded(proof)) return `${cost}${noBoundWords(proof.explored, running)}.`;
  if (objective <= lower) return `${cost}N${none.slice(1)} ${better} ${number(lower)}; polishing moved cuts beyond them and reached ${number(objective)}.`;
  const open = `${cost}Not proven: ${none} ${better} ${number(lower)}, but one may do better than ${number(upper)}`;
  return `${open}${beyond ? `; ${saved}` : ""}.`;
}

/** Says what the sentences above mean by cuts, and what a proof is about. */
export function aboutProof(proof: Proof): string {
  const space = proof.space || proof.proven_space;
  const parts = [
    proof.proven_optimal && "The proof is about the training rows, not about new ones.",
    space && proposes(space) && (proof.proven_optimal || !unbounded(proof)) && proof.objective > 0 && `The searched cuts are ${spaceWords(space)}.`,
    !proof.proven_optimal && proof.space && proof.proven_space && proof.space !== proof.proven_space &&
      `Proven before: the best tree over ${spaceWords(proof.proven_space)}.`,
  ];
  return parts.filter(Boolean).join(" ");
}
