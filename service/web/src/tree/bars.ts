// The rows of a node as bars over its strip, stacked by class.
import type { JobNodeRows, ModelNodeRows } from "../api/types.ts";
import { classStyle } from "./colours.ts";
import type { Scale } from "./strips.ts";

export type NodeRows = JobNodeRows | ModelNodeRows;
interface Stack { style: string; path: string }

interface Bar { x: number; width: number; rows: number[] }

/** Returns one path for each class. The bars stand on y = 0; those of missing values are at `missing`. */
export function stacks(found: NodeRows, scale: Scale, height: number, missing: { x: number; width: number }): Stack[] {
  const { histogram } = found;
  if (!histogram) return [];
  const bars: Bar[] = histogram.kind === "number" ? numberBars(histogram.bins, scale) : categoryBars(histogram.categories, scale);
  bars.push({ ...missing, rows: histogram.missing.rows });
  // The height of a bar is its number of rows; wide bins are not taller.
  const tallest = Math.max(1, ...bars.map((bar) => total(bar.rows)));
  const paths = found.classes.map(() => "");
  for (const { x, width, rows } of bars) {
    const all = total(rows);
    if (!all) continue;
    const full = Math.max(1.5, (height * all) / tallest);
    let y = 0;
    rows.forEach((count, k) => {
      if (!count) return;
      const part = (full * count) / all;
      y -= part;
      paths[k] += `M${x.toFixed(1)} ${y.toFixed(2)}h${width.toFixed(1)}v${part.toFixed(2)}h-${width.toFixed(1)}z`;
    });
  }
  return paths.flatMap((path, k) => (path ? [{ style: classStyle(k), path }] : []));
}

function total(rows: number[]): number {
  return rows.reduce((sum, x) => sum + x, 0);
}

function numberBars(bins: { low: number; high: number; rows: number[] }[], scale: Scale): Bar[] {
  if (scale.kind !== "number") return [];
  return bins.map(({ low, high, rows }) => {
    const [from, to] = [placeOf(scale, low), placeOf(scale, high)];
    const gap = to - from > 4 ? 0.6 : 0;
    return { x: from + gap / 2, width: Math.max(1, to - from - gap), rows };
  });
}

/** Returns the place of a number; the scale is linear between two cuts. */
function placeOf({ values, places }: { values: number[]; places: number[] }, value: number): number {
  const last = values.length - 2;
  let i = 0;
  while (i < last && value > values[i + 1]) i += 1;
  const part = (value - values[i]) / (values[i + 1] - values[i] || 1);
  return places[i] + Math.min(1, Math.max(0, part)) * (places[i + 1] - places[i]);
}

function categoryBars(categories: { value: unknown; rows: number[] }[], scale: Scale): Bar[] {
  if (scale.kind !== "category") return [];
  return categories.flatMap(({ value, rows }) => {
    const place = scale.places.get(value);
    return place ? [{ x: place.x + place.width / 6, width: (2 * place.width) / 3, rows }] : [];
  });
}
