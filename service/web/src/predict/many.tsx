// Predicts many rows of a CSV file or of pasted text.
import { useState } from "preact/hooks";
import { request } from "../api/client.ts";
import type { PredictionWarning } from "../api/types.ts";
import { firstRows, joined } from "../csv.ts";
import { bytes, cell, counted, percent } from "../format.ts";
import { DropZone } from "../parts/drop.tsx";
import { Refusal } from "../parts/states.tsx";
import { fileName, save } from "../save.ts";
import { useAction } from "../state/action.ts";
import type { Source } from "./source.ts";

const SHOWN = 20;
const MAX_SHOWN_LENGTH = 200_000; // characters; longer pasted text is not shown in the field

/** A warning in the response header, which has no message. */
type HeaderWarning = Omit<PredictionWarning, "message">;

interface PredictedRows { rows: string; csv: string; warnings: HeaderWarning[]; name: string }

export function ManyRows({ source }: { source: Source }) {
  const [text, setText] = useState("");
  const [file, setFile] = useState<File>();
  const [predicted, setPredicted] = useState<PredictedRows>();
  const { run, busy, error } = useAction();

  const predict = (rows: string, name: string) => run(async () => {
    setPredicted(undefined);
    const response = await request(`${source.path}/predict`, {
      method: "POST", body: rows, slow: true, headers: { "Content-Type": "text/csv", Accept: "text/csv" },
    });
    const warnings = JSON.parse(response.headers.get("Literati-Warnings") ?? "[]") as HeaderWarning[];
    setPredicted({ rows, csv: await response.text(), warnings, name });
  });
  const take = async (chosen: File) => {
    setFile(chosen);
    const rows = await chosen.text();
    setText(rows.length <= MAX_SHOWN_LENGTH ? rows : "");
    await predict(rows, chosen.name);
  };

  const names = source.tree.columns.filter((column) => !column.constant).map((column) => column.name);
  return (
    <section class="panel many" aria-label="Many rows">
      <DropZone accept=".csv,.txt,text/csv" label="Choose a CSV file" onFile={(chosen) => void take(chosen)}>
        <p>or drop one here. Its header names the columns: {names.slice(0, 12).join(", ")}{names.length > 12 ? " …" : ""}</p>
      </DropZone>
      <div class="field">
        <label for="pasted">Or paste rows with their header</label>
        <textarea id="pasted" rows={6} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </div>
      <div class="row">
        <button type="button" class="primary" disabled={busy || !text.trim()} onClick={() => void predict(text, file?.name ?? "rows.csv")}>
          {busy ? "Predicting…" : "Predict"}
        </button>
        {file && !text && <span class="quiet">{file.name}, {bytes(file.size)}</span>}
      </div>
      <Refusal error={error} />
      {predicted && <PredictionTable predicted={predicted} />}
    </section>
  );
}

function warningWords({ code, column, count }: HeaderWarning): string {
  const rows = counted(count, "row");
  if (code === "UNKNOWN_COLUMN") return `${column} is not a column of the model and was ignored.`;
  if (code === "ABSENT_COLUMN") return `${column ?? "Several columns"} ${column ? "is" : "are"} absent; the tree does not use ${column ? "it" : "them"}.`;
  if (code === "READ_AS") return `${column} was read as numbers with a decimal comma or thousands separators.`;
  if (code === "MISSING_VALUE") return `${column} is missing in ${rows}; each node has a side for missing values.`;
  if (code === "UNSEEN_CATEGORY") return `${column} has a value in ${rows} that is not in the training data; it goes to the side of most rows.`;
  if (code === "OUT_OF_RANGE") return `${column} is outside the training range in ${rows}.`;
  return "There are more warnings.";
}

function PredictionTable({ predicted }: { predicted: PredictedRows }) {
  const [head = [], ...body] = firstRows(predicted.csv, SHOWN + 1);
  const given = firstRows(predicted.rows, SHOWN + 1);
  const total = predicted.csv.trimEnd().split("\n").length - 1;
  const stem = fileName(predicted.name.replace(/\.[^.]*$/, ""));
  const shares = head.slice(2);
  // If the rows cannot be split here, the file has only the predictions.
  const download = () => save(`${stem}-predictions.csv`, "text/csv", joined(predicted.rows, predicted.csv) ?? predicted.csv);
  return (
    <>
      <div class="row">
        <h2>{counted(total, "prediction")}</h2>
        <button type="button" class="primary push" onClick={download}>Download the predictions</button>
      </div>
      <p class="quiet">The file has each row with its prediction at the end.</p>
      {predicted.warnings.length > 0 && <ul class="notes warn">{predicted.warnings.map((warning) => <li>{warningWords(warning)}</li>)}</ul>}
      <div class="scroll" role="region" aria-label="Predictions" tabIndex={0}>
        <table class="list compact">
          <thead>
            <tr>
              <th scope="col">Row</th><th scope="col">Prediction</th><th scope="col" class="right">Probability</th>
              {given[0]?.map((name) => <th scope="col">{name}</th>)}
            </tr>
          </thead>
          <tbody>
            {body.map((cells, i) => (
              <tr>
                <th scope="row">{i + 1}</th>
                <td class="strong">{cells[0]}</td>
                <td class="right">{percent(Math.max(...shares.map((_, k) => Number(cells[k + 2]))))}</td>
                {(given[i + 1] ?? []).map((value) => <td class="quiet">{cell(value === "" ? null : value)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {total > SHOWN && <p class="quiet">The first {SHOWN} are shown; the file has all of them.</p>}
    </>
  );
}
