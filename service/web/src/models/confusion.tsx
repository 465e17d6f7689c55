// The confusion matrix: rows are true classes, columns are predicted classes.
import type { Metrics } from "../api/types.ts";
import { cell, number } from "../format.ts";

const tint = (share: number) => `color-mix(in srgb, var(--tint) ${share < 0.05 ? 0 : 1 + 3 * Math.round(10 * share)}%, transparent)`;

export function ConfusionMatrix({ scores, caption, of = "" }: { scores: Metrics["validation"] | undefined; caption: string; of?: string }) {
  const matrix = scores?.confusion_matrix;
  if (!matrix) return <p class="quiet">{caption}: {scores ? "too many classes for a table" : "no rows were held back"}</p>;
  return (
    <div class="scroll" role="region" aria-label={of ? `${caption}, ${of}` : caption} tabIndex={0}>
      <table class="confusion">
        <caption>{caption}</caption>
        <thead>
          <tr><th scope="col"><span class="quiet">true / predicted</span></th>{matrix.labels.map((entry) => <th scope="col">{cell(entry)}</th>)}</tr>
        </thead>
        <tbody>
          {matrix.counts.map((row, i) => {
            const total = row.reduce((sum, x) => sum + x, 0) || 1;
            return (
              <tr>
                <th scope="row">{cell(matrix.labels[i])}</th>
                {row.map((rows, k) => (
                  <td class={i === k ? "hit" : "miss"} style={{ background: tint(rows / total) }}>{number(rows)}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
