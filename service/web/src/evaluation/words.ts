// Scores in words.
import type { ConfusionMatrix, ScoresInput } from "../api/types.ts";
import { cell, count, counted, number, percent } from "../format.ts";

/** A share that is never shown as 0 % if there is something. */
export function shareWords(share: number): string {
  return share > 0 && share < 0.0005 ? "< 0.1 %" : percent(share);
}

/** "85 % ± 6" with half the width of the 95 % interval. */
export function withInterval({ accuracy, accuracy_interval: interval }: Pick<ScoresInput, "accuracy" | "accuracy_interval">): string {
  if (!interval) return percent(accuracy);
  const half = 50 * (interval.high - interval.low);
  return half < 1 ? `${percent(accuracy)} ± ${Math.max(0.1, half).toFixed(1)}` : `${percent(accuracy, 0)} ± ${Math.round(half)}`;
}

/** "85 % ± 6 on 120 rows". */
export function accuracyWords(scores: Pick<ScoresInput, "accuracy" | "accuracy_interval" | "rows">): string {
  return `${withInterval(scores)} on ${counted(scores.rows, "row")}`;
}

export function intervalWords({ accuracy_interval: interval }: Pick<ScoresInput, "accuracy_interval">): string | undefined {
  return interval ? `With a probability of 95 %, the accuracy on new rows is between ${percent(interval.low)} and ${percent(interval.high)}` : undefined;
}

/** Whether the rows have weights: their sum differs from their number. */
export function weighted(scores: ScoresInput): boolean {
  const total = scores.per_class.reduce((sum, entry) => sum + entry.support, 0);
  return Math.abs(total - scores.rows) > 1e-6 * scores.rows;
}

export interface Confusion { actual: number; predicted: number; weight: number; of: number }

/** Returns the pairs of classes that are confused, the most frequent first. */
export function confusions({ counts }: ConfusionMatrix): Confusion[] {
  return counts.flatMap((row, actual) => {
    const of = row.reduce((sum, x) => sum + x, 0);
    return row.map((weight, predicted) => ({ actual, predicted, weight, of })).filter((each) => each.weight > 0 && each.predicted !== actual);
  }).sort((a, b) => b.weight - a.weight);
}

export function confusionWords({ labels }: ConfusionMatrix, { actual, predicted, weight, of }: Confusion): string {
  const rows = Number.isInteger(of) ? `${count(weight)} of ${counted(of, "row")}` : `${number(weight)} of ${number(of)} in weight`;
  return `${rows} of class ${cell(labels[actual])} ${weight === 1 ? "is" : "are"} predicted as ${cell(labels[predicted])} (${shareWords(weight / of)}).`;
}
