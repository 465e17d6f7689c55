// Many rows: a CSV dropped or pasted, the answers to look at and to save.
import { useState } from "preact/hooks";
import { request } from "../api/client.ts";
import { firstRecords, joined } from "../csv.ts";
import { bytes, cell, counted, percent } from "../format.ts";
import { DropZone } from "../parts/drop.tsx";
import { Refusal } from "../parts/states.tsx";
import { fileName, save } from "../save.ts";
import type { Source } from "./source.ts";

const SHOWN = 20;
const LONGEST_SHOWN = 200_000; // characters of pasted text that stay in the field

/** As the answer's header has it: CSV has no room for sentences. */
interface Notice { code: string; column: string | null; count: number }

interface Answers { rows: string; csv: string; warnings: Notice[]; name: string }

export function ManyRows({ source }: { source: Source }) {
  const [text, setText] = useState("");
  const [file, setFile] = useState<File>();
  const [answers, setAnswers] = useState<Answers>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);

  const predict = async (rows: string, name: string) => {
    setBusy(true);
    setError(undefined);
    setAnswers(undefined);
    try {
      const answer = await request(`${source.path}/predict`, {
        method: "POST", body: rows, slow: true, headers: { "Content-Type": "text/csv", Accept: "text/csv" },
      });
      const warnings = JSON.parse(answer.headers.get("Literati-Warnings") ?? "[]") as Notice[];
      setAnswers({ rows, csv: await answer.text(), warnings, name });
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };
  const take = async (chosen: File) => {
    setFile(chosen);
    const rows = await chosen.text();
    setText(rows.length <= LONGEST_SHOWN ? rows : "");
    await predict(rows, chosen.name);
  };

  const names = source.tree.columns.filter((column) => !column.constant).map((column) => column.name);
  return (
    <section class="panel many" aria-label="Many rows">
      <DropZone accept=".csv,.txt,text/csv" label="Choose a CSV file" onFile={(chosen) => void take(chosen)}>
        <p>or drop one here. Its header names the columns: {names.slice(0, 12).join(", ")}{names.length > 12 ? " …" : ""}</p>
      </DropZone>
      <div class="field">
        <label for="pasted">Or paste rows, with their header</label>
        <textarea id="pasted" rows={6} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </div>
      <div class="row">
        <button type="button" class="primary" disabled={busy || !text.trim()} onClick={() => void predict(text, file?.name ?? "rows.csv")}>
          {busy ? "Predicting…" : "Predict"}
        </button>
        {file && !text && <span class="quiet">{file.name}, {bytes(file.size)}</span>}
      </div>
      <Refusal error={error} />
      {answers && <Answered answers={answers} />}
    </section>
  );
}

function noticeWords({ code, column, count }: Notice): string {
  const rows = counted(count, "row");
  if (code === "UNKNOWN_COLUMN") return `${column} is unknown to the model and was ignored.`;
  if (code === "ABSENT_COLUMN") return `${column ?? "Several columns"} ${column ? "is" : "are"} absent; the tree does not use ${column ? "it" : "them"}.`;
  if (code === "READ_AS") return `${column} was read as numbers with a decimal comma, or with separators between thousands.`;
  if (code === "MISSING_VALUE") return `${column} is missing in ${rows}; each node has a side for those.`;
  if (code === "UNSEEN_CATEGORY") return `${column} has a value that training did not see in ${rows}; each node sends it where most rows went.`;
  if (code === "OUT_OF_RANGE") return `${column} is outside its range in training in ${rows}.`;
  return "There are more warnings.";
}

function Answered({ answers }: { answers: Answers }) {
  const { rows: [head = [], ...body] } = firstRecords(answers.csv, SHOWN + 1);
  const given = firstRecords(answers.rows, SHOWN + 1).rows;
  const total = answers.csv.trimEnd().split("\n").length - 1;
  const stem = fileName(answers.name.replace(/\.[^.]*$/, ""));
  const shares = head.slice(2);
  // Rows that cannot be told apart here leave the answers alone, in their order.
  const download = () => save(`${stem}-answers.csv`, "text/csv", joined(answers.rows, answers.csv) ?? answers.csv);
  return (
    <>
      <div class="row">
        <h2>{counted(total, "answer")}</h2>
        <button type="button" class="primary push" onClick={download}>
          Download the answers
        </button>
      </div>
      <p class="quiet">The file has each row with its answer at the end.</p>
      {answers.warnings.length > 0 && <ul class="notes warn">{answers.warnings.map((notice) => <li>{noticeWords(notice)}</li>)}</ul>}
      <div class="scroll" role="region" aria-label="Answers" tabIndex={0}>
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
