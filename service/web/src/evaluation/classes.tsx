// Precision, recall and F1 score of every class.
import type { ClassScores, ConfusionMatrix } from "../api/types.ts";
import { cell, number, orDash } from "../format.ts";
import { type Column, DataTable } from "../parts/table.tsx";
import { shareWords } from "./words.ts";

const share = (id: "precision" | "recall" | "f1", name: string): Column<ClassScores> => ({
  id, name, right: true, descending: true, value: (entry) => entry[id], cell: (entry) => orDash(entry[id], shareWords),
});

const COLUMNS: Column<ClassScores>[] = [
  { id: "class", name: "Class", value: (entry) => cell(entry.label) },
  share("precision", "Precision"), share("recall", "Recall"), share("f1", "F1"),
  { id: "support", name: "Rows", right: true, descending: true, value: (entry) => entry.support, cell: (entry) => number(entry.support) },
];

export function ClassTable({ classes, name }: { classes: ClassScores[]; name: string }) {
  return (
    <>
      <DataTable label="Scores of each class" columns={COLUMNS} rows={classes} id={(entry) => `${typeof entry.label} ${entry.label}`} saveAs={`${name} classes`} />
      <p class="help">
        Precision: how many of the rows that are predicted as this class have it. Recall: how many of the rows of this class are predicted as it.
        F1 is their harmonic mean.
      </p>
    </>
  );
}

/** Returns the scores of the classes of a matrix, for predictions at another threshold. */
export function classScores({ labels, counts }: ConfusionMatrix): ClassScores[] {
  return labels.map((label, i) => {
    const support = counts[i].reduce((sum, x) => sum + x, 0);
    const predicted = counts.reduce((sum, row) => sum + row[i], 0);
    const ratio = (part: number, whole: number) => (whole > 0 ? part / whole : null);
    return { label, support, precision: ratio(counts[i][i], predicted), recall: ratio(counts[i][i], support), f1: ratio(2 * counts[i][i], support + predicted) };
  });
}
