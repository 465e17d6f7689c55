// Errors in words.
import type { ConfusionMatrix } from "../api/types.ts";
import { cell, count, counted, number, percent } from "../format.ts";

/** A share that is never shown as 0 % if there is something. */
export function shareWords(share: number): string {
  return share > 0 && share < 0.0005 ? "< 0.1 %" : percent(share);
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
