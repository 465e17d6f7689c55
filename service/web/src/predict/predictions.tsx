// The predictions of many rows: a table of the first ones, and all of them as a file.
import { firstRows, joined, withoutApostrophe } from "../csv.ts";
import { cell, counted, percent } from "../format.ts";
import { fileName, save } from "../save.ts";
import type { PredictedRows } from "./many.tsx";

const SHOWN = 20;

export function PredictionTable({ predicted: { rows, csv, warnings, target, scored } }: { predicted: PredictedRows }) {
  const [head = [], ...body] = firstRows(csv, SHOWN + 1);
  const [names = [], ...given] = rows.text === undefined ? [] : firstRows(rows.text, SHOWN + 1);
  const total = csv.trimEnd().split("\n").length - 1;
  const truth = scored ? names.findIndex((name) => name.trim() === target) : -1;
  const others = names.map((_, i) => i).filter((i) => i !== truth);
  // If the rows cannot be split here, the file has only the predictions.
  const whole = rows.text === undefined ? null : joined(rows.text, csv);
  const stem = fileName(rows.name.replace(/\.[^.]*$/, ""));
  return (
    <>
      <div class="row">
        <h2>{counted(total, "prediction")}</h2>
        <button type="button" class="primary push" onClick={() => save(`${stem}-predictions.csv`, "text/csv", whole ?? csv)}>Download the predictions</button>
      </div>
      <p class="quiet">{whole ? "The file has each row with its prediction at the end." : "The file has the predictions in the order of the rows."} The probability is that of the predicted class.</p>
      {warnings.length > 0 && <ul class="notes warn">{warnings.map((warning) => <li>{warningWords(warning)}</li>)}</ul>}
      <div class="scroll" role="region" aria-label="Predictions" tabIndex={0}>
        <table class="list compact">
          <thead>
            <tr>
              <th scope="col">Row</th><th scope="col">Prediction</th>{truth >= 0 && <th scope="col">{names[truth]}</th>}
              <th scope="col" class="right">Probability</th>{others.map((i) => <th scope="col">{names[i]}</th>)}
            </tr>
          </thead>
          <tbody>
            {body.map((cells, i) => {
              const row = given[i] ?? [];
              const prediction = withoutApostrophe(cells[0]);
              const wrong = truth >= 0 && row[truth] !== "" && !same(prediction, row[truth] ?? "");
              return (
                <tr class={wrong ? "wrong" : undefined}>
                  <th scope="row">{i + 1}</th>
                  <td class="strong">{cell(prediction)}</td>
                  {truth >= 0 && <td>{cell(row[truth] || null)}{wrong && <span class="bad"> (wrong)</span>}</td>}
                  <td class="right">{percent(Math.max(...head.slice(2).map((_, k) => Number(cells[k + 2]))))}</td>
                  {others.map((k) => <td class="quiet">{cell(row[k] || null)}</td>)}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {total > SHOWN && <p class="quiet">The first {SHOWN} are shown; the file has all of them.</p>}
    </>
  );
}

/** Compares a prediction with a cell, which may spell the same class otherwise: 1 and 1.0, true and True. */
function same(prediction: string, given: string): boolean {
  const [a, b] = [prediction.trim(), given.trim()];
  return a === b || a.toLowerCase() === b.toLowerCase() || (a !== "" && b !== "" && Number(a) === Number(b));
}

function warningWords({ code, column, count }: PredictedRows["warnings"][number]): string {
  const rows = counted(count, "row");
  if (code === "UNKNOWN_COLUMN") return `${column} is not a column of the model and was ignored.`;
  if (code === "ABSENT_COLUMN") return `${column ?? "Several columns"} ${column ? "is" : "are"} absent; the tree does not use ${column ? "it" : "them"}.`;
  if (code === "UNREADABLE_COLUMN") return `${column} cannot be read; the tree does not use it.`;
  if (code === "READ_AS") return `${column} was read as numbers with a decimal comma or thousands separators.`;
  if (code === "MISSING_VALUE") return `${column} is missing in ${rows}; each node has a side for missing values.`;
  if (code === "UNSEEN_CATEGORY") return `${column} has a value in ${rows} that is not in the training data; it goes to the side of most rows.`;
  if (code === "OUT_OF_RANGE") return `${column} is outside the training range in ${rows}.`;
  return "There are more warnings.";
}
