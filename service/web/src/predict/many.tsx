// Predicts many rows of a file or of pasted text, and scores them if they have their true class.
import { useMemo, useState } from "preact/hooks";
import { ApiError, request } from "../api/client.ts";
import { pastedRows, type ReadRows, readRows, ROW_FILES } from "../api/rows.ts";
import type { PredictionWarning, Scored } from "../api/types.ts";
import { firstRows } from "../csv.ts";
import { scoreFile } from "../evaluation/file.ts";
import { FileReport } from "../evaluation/file-report.tsx";
import { bytes } from "../format.ts";
import { DropZone } from "../parts/drop.tsx";
import { lazy } from "../parts/lazy.tsx";
import { Refusal } from "../parts/states.tsx";
import { useAction } from "../state/action.ts";
import { PredictionTable } from "./predictions.tsx";
import { addressOf, type Source } from "./source.ts";

const ScoreView = lazy(() => import("../models/parts.ts").then((part) => part.ScoreView));

const MAX_SHOWN_LENGTH = 200_000; // characters; longer text is not shown in the field

/** A warning in the response header, which has no message. */
type HeaderWarning = Omit<PredictionWarning, "message">;

export interface PredictedRows { rows: ReadRows; csv: string; warnings: HeaderWarning[]; target?: string; scored?: Scored; unscored?: string }

export function ManyRows({ source }: { source: Source }) {
  const [text, setText] = useState("");
  const [file, setFile] = useState<ReadRows>();
  const [predicted, setPredicted] = useState<PredictedRows>();
  const { run, busy, error } = useAction();

  const take = (chosen: File) => run(async (signal) => {
    setPredicted(undefined);
    const rows = await readRows(chosen);
    signal.throwIfAborted();
    setFile(rows);
    setText(rows.text !== undefined && rows.text.length <= MAX_SHOWN_LENGTH ? rows.text : "");
    setPredicted(await predictAndScore(source, rows, signal));
  });
  const predict = () => run(async (signal) => {
    setPredicted(undefined);
    setPredicted(await predictAndScore(source, file ?? pastedRows(text), signal));
  });
  const type = (next: string) => {
    setText(next);
    setFile(undefined);
  };

  // The table reads all rows, so it is not drawn again at each key.
  const table = useMemo(() => predicted && <PredictionTable predicted={predicted} />, [predicted]);
  const names = source.tree.columns.filter((column) => !column.constant).map((column) => column.name);
  return (
    <section class="panel many" aria-label="Many rows">
      <DropZone accept={ROW_FILES} label="Choose a file" onFile={(chosen) => void take(chosen)}>
        <p>
          or drop one here: CSV, TSV or Parquet. Its columns: {names.slice(0, 12).join(", ")}{names.length > 12 ? " …" : ""}
          {source.target && <>. If it has <strong>{source.target}</strong> too, the predictions are scored</>}.
        </p>
      </DropZone>
      <div class="field">
        <label for="pasted">Or paste rows with their header</label>
        <textarea id="pasted" rows={6} spellcheck={false} value={text} onInput={(event) => type(event.currentTarget.value)} />
      </div>
      <div class="row">
        <button type="button" class="primary" disabled={busy || !(file || text.trim())} onClick={() => void predict()}>
          {busy ? "Predicting…" : "Predict"}
        </button>
        {file && <span class="quiet">{file.name}, {bytes(file.body.size)}</span>}
      </div>
      <Refusal error={error} />
      {predicted?.scored && <ScoredRows source={source} name={predicted.rows.name} scored={predicted.scored} />}
      {predicted?.unscored && <p class="notice warn">The predictions are not scored: {predicted.unscored}</p>}
      {table}
    </section>
  );
}

async function predictAndScore(source: Source, rows: ReadRows, signal: AbortSignal): Promise<PredictedRows> {
  const response = await request(addressOf(source, "predict"), {
    method: "POST", body: rows.body, slow: true, signal, headers: { "Content-Type": rows.type, Accept: "text/csv" },
  });
  const csv = await response.text();
  const warnings = JSON.parse(response.headers.get("Literati-Warnings") ?? "[]") as HeaderWarning[];
  const { target } = source;
  if (!target || !hasColumn(rows, target, warnings)) return { rows, csv, warnings };
  const others = warnings.filter((warning) => !(warning.code === "UNKNOWN_COLUMN" && warning.column === target));
  try {
    const scored = await scoreFile(addressOf(source, "score"), rows, signal);
    return { rows, csv, target, scored, warnings: others.filter((each) => !isRepeated(each, scored)) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 422) throw error;
    return { rows, csv, warnings: others, unscored: error.errors[0]?.message ?? error.message };
  }
}

/** Returns whether rows have a column beside those of the model: text has it in its header, of other columns the server warns. */
function hasColumn({ text }: ReadRows, target: string, warnings: HeaderWarning[]): boolean {
  if (text !== undefined) return (firstRows(text.slice(0, 1 << 18), 1)[0] ?? []).some((name) => name.trim() === target);
  return warnings.some(({ code, column }) => code === "UNKNOWN_COLUMN" && column === target);
}

function isRepeated({ code, column }: HeaderWarning, { warnings }: Scored): boolean {
  return warnings.some((warning) => warning.code === code && warning.column === column);
}

/** The summary of the scores, with the whole evaluation on request. */
function ScoredRows({ source, name, scored }: { source: Source; name: string; scored: Scored }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <h2>Score</h2>
      <FileReport file={{ name, scored }} />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Evaluation</summary>
        {open && <ScoreView scores={scored.scores} rows={name} name={name} column={name} classes={source.tree.classes.labels.length} />}
      </details>
    </>
  );
}
