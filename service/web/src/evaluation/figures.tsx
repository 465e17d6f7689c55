// The scores of a tree in one table, beside those of other classifiers or other rows.
import type { ScoresInput } from "../api/types.ts";
import { number, orDash, percent } from "../format.ts";
import { accuracyWords, intervalWords } from "../quality/sentences.ts";

export interface Beside { name: string; scores: ScoresInput }

interface Line { name: string; key: keyof ScoresInput & ("accuracy" | "balanced_accuracy" | "macro_f1" | "log_loss" | "brier_score" | "roc_auc"); about: string; show: (value: number) => string; less?: true }

const LINES: Line[] = [
  { name: "Accuracy", key: "accuracy", about: "The share of the rows that are predicted right.", show: percent },
  { name: "Balanced accuracy", key: "balanced_accuracy", about: "The mean recall of the classes, so that rare classes count as much as frequent ones.", show: percent },
  { name: "Macro F1", key: "macro_f1", about: "The mean F1 score of the classes.", show: percent },
  { name: "ROC AUC", key: "roc_auc", about: "How well the probabilities put the rows of the two classes in order: 50 % is chance, 100 % is perfect.", show: percent },
  { name: "Log loss", key: "log_loss", about: "How wrong the probabilities are; confident errors cost most. Less is better.", show: number, less: true },
  { name: "Brier score", key: "brier_score", about: "The mean squared error of the probabilities. Less is better.", show: number, less: true },
];

export function Figures({ scores, name, beside }: { scores: ScoresInput; name: string; beside: Beside[] }) {
  const columns = [{ name, scores }, ...beside];
  const lines = LINES.filter((line) => columns.some((column) => column.scores[line.key] != null));
  return (
    <div class="scroll" role="region" aria-label="Table of scores" tabIndex={0}>
      <table class="list compact figures">
        <thead>
          <tr><th scope="col">Score</th>{columns.map((column) => <th scope="col" class="right">{column.name}</th>)}</tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr>
              <th scope="row" title={line.about}>{line.name}{line.less && <span class="quiet"> (less is better)</span>}</th>
              {columns.map((column, i) => (
                <td class={i === 0 ? "right strong" : "right"} title={line.key === "accuracy" ? intervalWords(column.scores) : undefined}>
                  {line.key === "accuracy" ? accuracyWords(column.scores) : orDash(column.scores[line.key], line.show)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
