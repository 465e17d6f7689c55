// A small histogram of a column.
import type { ColumnInfo } from "../api/types.ts";
import { cell, count, counted, number } from "../format.ts";

const WIDTH = 132;
const HEIGHT = 30;
const MAX_BARS = 24;

interface Bars { counts: number[]; names: string[]; summary: string }

function barsOf(column: ColumnInfo): Bars | null {
  if (column.histogram) {
    const { edges, counts } = column.histogram;
    const names = counts.map((_, i) => `${number(edges[i])} to ${number(edges[i + 1])}`);
    const fullest = counts.indexOf(Math.max(...counts));
    const range = `From ${number(column.minimum ?? edges[0])} to ${number(column.maximum ?? edges[edges.length - 1])}`;
    return { counts, names, summary: `${range}; most rows, ${count(counts[fullest])}, from ${names[fullest]}.` };
  }
  if (column.categories?.length && column.category_counts) {
    const counts = column.category_counts.slice(0, MAX_BARS);
    const names = column.categories.slice(0, MAX_BARS).map(cell);
    const kinds = counted(column.distinct ?? names.length, "value");
    return { counts, names, summary: `${kinds}; the most frequent, ${names[0]}, has ${counted(counts[0], "row")}.` };
  }
  return null;
}

export function Histogram({ column }: { column: ColumnInfo }) {
  const bars = barsOf(column);
  if (!bars) return <span class="quiet">no values</span>;
  const step = WIDTH / bars.counts.length;
  const gap = Math.min(1.5, step / 4);
  const width = Math.min(step - gap, 22);
  const top = Math.max(...bars.counts);
  return (
    <svg class="histogram" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={bars.summary}>
      {bars.counts.map((rows, i) => {
        const height = rows === 0 ? 0 : Math.max(1, ((HEIGHT - 1) * rows) / top);
        const x = column.histogram ? i * step : i * Math.min(step, 22 + gap);
        return (
          <rect x={x} y={HEIGHT - height} width={width} height={height}>
            <title>{`${bars.names[i]}: ${counted(rows, "row")}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
