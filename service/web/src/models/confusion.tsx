// The confusion matrix: rows are true classes, columns are predicted classes.
import type { Scores } from "../api/types.ts";
import { cell, number } from "../format.ts";

export function ConfusionMatrix({ scores, caption, of = "" }: { scores: Scores | null | undefined; caption: string; of?: string }) {
  const matrix = scores?.confusion_matrix;
  if (!matrix) return <p class="quiet">{caption}: {scores ? "too many classes for a table" : "no rows were held back"}</p>;
  return (
    <div class="scroll" role="region" aria-label={of ? `${caption}, ${of}` : caption} tabIndex={0}>
      <table class="confusion">
        <caption>{caption}</caption>
        <thead>
          <tr><th scope="col"><span class="quiet">true / said</span></th>{matrix.labels.map((entry) => <th scope="col">{cell(entry)}</th>)}</tr>
        </thead>
        <tbody>
          {matrix.counts.map((row, i) => {
            const total = row.reduce((sum, x) => sum + x, 0) || 1;
            return (
              <tr>
                <th scope="row">{cell(matrix.labels[i])}</th>
                {row.map((rows, k) => (
                  <td class={`heat${Math.round((10 * rows) / total)} ${i === k ? "hit" : "miss"}`}>{number(rows)}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
