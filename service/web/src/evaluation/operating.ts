// Counts at every threshold of a classifier of two classes, from the operating points of its scores.
import type { ScoresInput } from "../api/types.ts";

/** The class that a threshold is about: 1 for the second class, 0 for the first one. */
export type Positive = 0 | 1;

/** Counts of the rows that are predicted positive. Cut k predicts the rows of the k highest probabilities as positive. */
export interface Curve {
  positive: Positive;
  probabilities: number[]; // of the positive class, descending; every one is different
  hits: number[]; // by cut: rows of the positive class that are predicted positive
  alarms: number[]; // by cut: rows of the other class that are predicted positive
  own: number; // the cut of the tree itself, which predicts the class with the larger share
  ownCounts: Counts; // exact, also where the server has merged neighbouring points
}

export interface Counts { hits: number; alarms: number; misses: number; rejections: number }

/** Shares across and up. */
export type Point = [number, number];

interface Rates { precision: number | null; recall: number | null; alarmRate: number | null }

export function curveOf({ operating_points: points, confusion_matrix: matrix }: ScoresInput, positive: Positive): Curve | undefined {
  if (!points?.length) return undefined;
  const mirrored = positive === 0;
  const ordered = mirrored ? [...points].reverse() : points;
  const hits = [0];
  const alarms = [0];
  ordered.forEach((point, i) => {
    hits.push(hits[i] + (mirrored ? point.negatives : point.positives));
    alarms.push(alarms[i] + (mirrored ? point.positives : point.negatives));
  });
  const curve = {
    positive, hits, alarms,
    probabilities: ordered.map(({ probability }) => (mirrored ? 1 - probability : probability)),
    // With equal shares the tree predicts the first class.
    own: ordered.filter(({ probability }) => (mirrored ? probability <= 0.5 : probability > 0.5)).length,
  };
  return { ...curve, ownCounts: matrix ? countsIn(matrix.counts, positive) : countsAt(curve, curve.own) };
}

/** Returns the counts of a confusion matrix, without the rows of classes that the tree does not know. */
export function countsIn(matrix: number[][], positive: Positive): Counts {
  const other = 1 - positive;
  return {
    hits: matrix[positive][positive], alarms: matrix[other][positive], misses: matrix[positive][other], rejections: matrix[other][other],
  };
}

export function countsAt({ hits, alarms }: Pick<Curve, "hits" | "alarms">, cut: number): Counts {
  const last = hits.length - 1;
  return { hits: hits[cut], alarms: alarms[cut], misses: hits[last] - hits[cut], rejections: alarms[last] - alarms[cut] };
}

const ratio = (part: number, whole: number) => (whole > 0 ? part / whole : null);

export function ratesOf({ hits, alarms, misses, rejections }: Counts): Rates {
  return { precision: ratio(hits, hits + alarms), recall: ratio(hits, hits + misses), alarmRate: ratio(alarms, alarms + rejections) };
}

/** Returns the confusion matrix in the order of the classes: a row for each true class. */
export function matrixOf({ hits, alarms, misses, rejections }: Counts, positive: Positive): number[][] {
  return positive === 1 ? [[rejections, alarms], [misses, hits]] : [[hits, misses], [alarms, rejections]];
}

/** Returns the cut that predicts the rows with at least this probability as positive. */
export function cutAt({ probabilities }: Curve, threshold: number): number {
  const first = probabilities.findIndex((probability) => probability < threshold - 1e-12);
  return first < 0 ? probabilities.length : first;
}

/** Returns the thresholds that give different predictions, ascending. The last one is 1. */
export function thresholdsOf({ probabilities }: Curve): number[] {
  return [...(probabilities[0] < 1 ? [1] : []), ...probabilities].reverse();
}

/** Returns the mean precision over the recall, as scikit-learn's average_precision_score. */
export function averagePrecision(curve: Curve): number | null {
  const total = curve.hits[curve.hits.length - 1];
  if (!total) return null;
  return curve.probabilities.reduce((sum, _, i) => {
    const { precision } = ratesOf(countsAt(curve, i + 1));
    return sum + ((curve.hits[i + 1] - curve.hits[i]) / total) * (precision ?? 0);
  }, 0);
}

/** Returns a point of the ROC curve: shares of the other class and of the positive class that are predicted positive. */
export function rocPoint(counts: Counts): Point {
  const { alarmRate, recall } = ratesOf(counts);
  return [alarmRate ?? 0, recall ?? 0];
}

/** Returns a point of the precision-recall curve. */
export function precisionPoint(counts: Counts): Point {
  const { recall, precision } = ratesOf(counts);
  return [recall ?? 0, precision ?? 1];
}

export function rocPoints(curve: Curve): Point[] {
  return curve.hits.map((_, cut) => rocPoint(countsAt(curve, cut)));
}

/** Before the first row, the precision is that of the first cut. */
export function precisionPoints(curve: Curve): Point[] {
  return curve.hits.map((_, cut) => (cut === 0 ? [0, precisionPoint(countsAt(curve, 1))[1]] : precisionPoint(countsAt(curve, cut))));
}
