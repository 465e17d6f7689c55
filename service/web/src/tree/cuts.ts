// Short texts of cuts: three significant digits, and more where cuts would look equal.
import type { Tree } from "../api/types.ts";
import { once } from "./shape.ts";
import { exact, plainNumber } from "../format.ts";

const FINEST = 1 / 500; // of the column's range: a text is not farther from its cut

/** The text of every cut, by column and value. */
const texts = once((tree): Map<number, Map<number, string>> => {
  const cuts = new Map<number, Set<number>>();
  for (const { split } of tree.nodes) {
    if (!split?.thresholds.length) continue;
    if (!cuts.has(split.column)) cuts.set(split.column, new Set());
    for (const cut of split.thresholds) cuts.get(split.column)!.add(cut);
  }
  return new Map([...cuts].map(([column, values]) => {
    const info = tree.columns[column];
    const [low, high] = info.kind === "number" ? [info.minimum ?? 0, info.maximum ?? 1] : [0, 1];
    return [column, shortTexts([...values], high - low)];
  }));
});

/** Rounds each number by less than half its distance to the next one, so that their texts differ and keep their order. */
export function shortTexts(numbers: number[], span: number): Map<number, string> {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  return new Map(sorted.map((value, i) => {
    const near = Math.min(value - (sorted[i - 1] ?? -Infinity), (sorted[i + 1] ?? Infinity) - value);
    return [value, shortText(value, Math.min(near * 0.49, span > 0 ? span * FINEST : Infinity))];
  }));
}

function shortText(value: number, room: number): string {
  for (let digits = 3; digits < 17; digits += 1) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.abs(rounded - value) <= room) return plainNumber(rounded, true);
  }
  return exact(value);
}

export function cutText(tree: Tree, column: number, cut: number): string {
  return texts(tree).get(column)?.get(cut) ?? exact(cut);
}
