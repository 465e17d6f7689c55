// Errors in words.
import type { ConfusionMatrix } from "../api/types.ts";
import { cell, count, counted, number, percent } from "../format.ts";

/** A share that is never shown as 0 % if there is something. */
export function shareWords(share: number): string {
  return share > 0 && share < 0.0005 ? "< 0.1 %" : percent(share);
}

interface Confusion { actual: number; predicted: number; weight: number; of: number }

/** Returns the pairs of classes that are confused, the most frequent first. */
export function confusions({ counts }: ConfusionMatrix): Confusion[] {
  return counts.flatMap((row, actual) => {
    const of = row.reduce((sum, x) => sum + x, 0);
    return row.map((weight, predicted) => ({ actual, predicted, weight, of })).filter((each) => each.weight > 0 && each.predicted !== actual);
  }).sort((a, b) => b.weight - a.weight);
}

/** "3 of 40 rows of class a are predicted as b (7.5 %).", or "Weight 2.5 of 36 of class a is predicted as b (6.9 %)." */
export function confusionWords({ labels }: ConfusionMatrix, { actual, predicted, weight, of }: Confusion, weighted: boolean): string {
  const rows = weighted ? `Weight ${number(weight)} of ${number(of)}` : `${count(weight)} of ${counted(of, "row")}`;
  return `${rows} of class ${cell(labels[actual])} ${weighted || weight === 1 ? "is" : "are"} predicted as ${cell(labels[predicted])} (${shareWords(weight / of)}).`;
}
