// The prediction of one row: its class, the probabilities of the classes and the path in the tree.
import type { Predictions, Step, TreeNode } from "../api/types.ts";
import { cell, counted, exact, label, labelKey, listed, number, percent } from "../format.ts";
import { ClassBars } from "../tree/legend.tsx";
import { weighted } from "../tree/shape.ts";
import type { Source } from "./source.ts";

const FEW = 10; // training rows of a leaf whose shares say little

export function PredictionPanel({ source, predictions }: { source: Source; predictions: Predictions }) {
  const { tree } = source;
  const { labels } = tree.classes;
  const probabilities = predictions.probabilities[0];
  const bars = labels.map((entry, index) => ({ index, name: label(entry), weight: probabilities[labelKey(entry)] ?? 0 }))
    .filter((bar) => bar.weight > 0).sort((a, b) => b.weight - a.weight);
  const leaf = tree.nodes[predictions.leaf_ids[0]];
  return (
    <div class="answer" aria-live="polite">
      <p class="verdict">{cell(predictions.predictions[0])} <span class="quiet">with probability {percent(bars[0]?.weight ?? 0)}</span></p>
      {leaf && <p>{leafWords(leaf, label(labels[leaf.label]), weighted(tree))}</p>}
      <ClassBars bars={bars} most={8} full={1} figure={percent} label="Probabilities of the classes" />
      {leaf && <p class="help">{smoothingWords(tree.settings.probability_smoothing ?? 0, weighted(tree))}</p>}
      <ol class="steps">
        {predictions.explanations![0].steps.map((step) => <li class={step.side === "right" ? "goes-right" : "goes-left"}>{stepWords(step)}</li>)}
      </ol>
      {predictions.warnings.length > 0 && (
        <ul class="notes warn">{predictions.warnings.map((warning) => <li>{warning.message}</li>)}</ul>
      )}
    </div>
  );
}

/** Says which training rows the prediction comes from. */
function leafWords({ rows, counts, label: index }: TreeNode, name: string, byWeight: boolean): string {
  const total = counts.reduce((sum, weight) => sum + weight, 0);
  const mine = counts[index];
  const share = percent(mine / total);
  const few = rows < FEW ? " These are few, so the probability is uncertain." : "";
  if (byWeight) {
    return `${counted(rows, "training row")} ended in the same leaf, and ${share} of their weight (${number(mine)} of ${number(total)}) is of class ${name}.${few}`;
  }
  const right = mine === rows ? (rows === 1 ? "It is" : "All of them are") : `${number(mine)} of them (${share}) are`;
  return `${counted(rows, "training row")} ended in the same leaf. ${right} of class ${name}.${few}`;
}

/** Explains how a probability follows from the training rows of a leaf. */
function smoothingWords(smoothing: number, byWeight: boolean): string {
  const share = `The probability of a class is its share of ${byWeight ? "the weight of " : ""}these training rows`;
  if (smoothing === 0) return `${share}. On new rows it is often less certain than that.`;
  const added = byWeight
    ? `a weight of ${number(smoothing)} is added to every class`
    : `${smoothing === 1 ? "one row" : `${number(smoothing)} rows`} of every class ${smoothing === 1 ? "is" : "are"} added`;
  return `${share} after ${added}. ` +
    "So a class that a small leaf has not seen is unlikely, but not impossible.";
}

/** Explains the side that a row takes at a node. */
function stepWords({ feature, value, status, side, interval, categories, more_categories: more, seen }: Step): string {
  const way = `: ${side}`;
  if (status === "missing") return `${feature} is missing${seen ? "" : ", unlike in every training row of this node"}${way}`;
  if (status === "unknown") return `${feature} is ${cell(value)}, which is not in the training data${way}`;
  if (categories) {
    const names = categories.map(cell);
    const others = names.length + more > 1 ? `, one of ${listed(names, "and")}${more ? ` and ${more} more` : ""}` : "";
    return `${feature} is ${cell(value)}${others}${way}`;
  }
  if (typeof value === "boolean" || !interval) return `${feature} is ${cell(value)}${way}`;
  const low = interval.above === null ? "" : `above ${exact(interval.above)}`;
  const high = interval.up_to === null ? "" : `at most ${exact(interval.up_to)}`;
  const range = [low, high].filter(Boolean).join(" and ");
  return `${feature} is ${exact(Number(value))}${range && `, ${range}`}${way}`;
}
