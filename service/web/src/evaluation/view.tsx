// The evaluation of a model on its held-back rows, on its training rows and on files.
import { useState } from "preact/hooks";
import { complaintAt } from "../api/client.ts";
import { ROW_FILES, type RowFile, rowFile } from "../api/rows.ts";
import type { Dataset, ModelWithTree } from "../api/types.ts";
import { Choice } from "../parts/choice.tsx";
import { DropZone } from "../parts/drop.tsx";
import { Field } from "../parts/field.tsx";
import { Icon } from "../parts/icons.tsx";
import { Empty, Refusal } from "../parts/states.tsx";
import { keepInLink, place } from "../router.ts";
import { useAction } from "../state/action.ts";
import { title } from "../words.ts";
import { scoreFile } from "./file.ts";
import { FileReport, type ScoredFile } from "./file-report.tsx";
import type { Beside } from "./figures.tsx";
import { ScoreView } from "./scores.tsx";

type Rows = "validation" | "train" | "file";

const NAMES: Record<Rows, string> = { validation: "Held-back rows", train: "Training rows", file: "A file" };

interface Props { model: ModelWithTree; dataset: Dataset | undefined }

export function Evaluation(props: Props) {
  if (!props.model.metrics.train) return <Empty title="No scores"><p>This record has no scores.</p></Empty>;
  return <Evaluated {...props} />;
}

function Evaluated({ model, dataset }: Props) {
  const { metrics } = model;
  const [rows, setRows] = useState<Rows>(() => {
    const wanted = place.value.query.get("rows") as Rows | null;
    return wanted === "file" || (wanted && metrics[wanted]) ? wanted : metrics.validation ? "validation" : "train";
  });
  const [file, setFile] = useState<ScoredFile>();
  const choose = (next: Rows) => {
    setRows(next);
    keepInLink({ rows: next === (metrics.validation ? "validation" : "train") ? null : next });
  };
  const choices = {
    ...(metrics.validation && { validation: `${NAMES.validation} (${metrics.validation.rows})` }),
    train: `${NAMES.train} (${metrics.train.rows})`, file: file ? file.name : "Score a file",
  };
  const shared = { classes: model.tree.classes.labels.length, name: title(model) };
  return (
    <>
      <Choice<Rows> label="Rows" choices={choices} value={rows} onValue={choose} />
      {rows === "train" && (
        <p class="notice warn">
          <Icon name="warning" />
          <span>The tree has learned from these rows, so its scores on new rows are probably lower.{!metrics.validation && " No rows were held back. Score a file with new rows, or train again and hold rows back."}</span>
        </p>
      )}
      {rows === "file" && <FileScores model={model} dataset={dataset} onScored={setFile} />}
      {rows === "file" && file && <FileReport file={file} />}
      {rows === "file"
        ? file && <ScoreView {...shared} key={`file ${file.name}`} scores={file.scored.scores} rows={file.name} column={file.name} beside={besideFile(model)} />
        : (
          <ScoreView
            {...shared} key={rows} scores={metrics[rows]!} rows={NAMES[rows]} beside={baselines(model, rows)}
            cart={metrics.baselines.cart?.[rows]}
          />
        )}
    </>
  );
}

function baselines({ metrics: { baselines: { cart, majority } } }: ModelWithTree, rows: "validation" | "train"): Beside[] {
  const found = [{ name: "CART of the same depth", scores: cart?.[rows] }, { name: "Most frequent class", scores: majority[rows] }];
  return found.filter((each): each is Beside => Boolean(each.scores));
}

function besideFile({ metrics: { validation, train } }: ModelWithTree): Beside[] {
  return [validation ? { name: NAMES.validation, scores: validation } : { name: NAMES.train, scores: train }];
}

function FileScores({ model, dataset, onScored }: { model: ModelWithTree; dataset: Dataset | undefined; onScored: (file: ScoredFile) => void }) {
  const target = model.target ?? dataset?.target; // models of version 0.1.0 do not say it
  const [columns, setColumns] = useState({ target: "", weight: "" }); // empty: as the server chooses
  const [last, setLast] = useState<RowFile>();
  const { run, busy, error } = useAction();
  const score = (chosen: RowFile | Promise<RowFile>) => run(async (signal) => {
    const rows = await chosen;
    signal.throwIfAborted();
    setLast(rows);
    const query = new URLSearchParams(Object.entries(columns).filter(([, name]) => name)).toString();
    const scored = await scoreFile(`/v1/models/${model.id}/score${query && `?${query}`}`, rows, signal);
    onScored({ name: rows.name, scored });
  });
  const text = (key: keyof typeof columns) => ({
    value: columns[key], autocomplete: "off", spellcheck: false,
    onInput: (event: { currentTarget: HTMLInputElement }) => setColumns({ ...columns, [key]: event.currentTarget.value }),
  });
  return (
    <section class="panel score-file" aria-label="Score a file">
      <h2>Score a file</h2>
      <p class="quiet">
        The file has new rows with their true class{target && <> in the column <strong>{target}</strong></>}. The server predicts them, compares
        the predictions with the true classes and does not keep the file.
      </p>
      <DropZone accept={ROW_FILES} label={busy ? "Scoring…" : "Choose a file"} onFile={(chosen) => void score(rowFile(chosen))}>
        <p>or drop one here: CSV, TSV or Parquet, with the columns of the model.</p>
      </DropZone>
      <details open={complaintAt(error, "/query") !== undefined}>
        <summary>Other columns</summary>
        <div class="fields">
          <Field name="Column of the true class" help={target ? `By default ${target}.` : "The dataset of the model is deleted, so name the column."} error={complaintAt(error, "/query/target")}>
            <input {...text("target")} placeholder={target} />
          </Field>
          <Field name="Column of the weights" help="By default every row weighs 1." error={complaintAt(error, "/query/weight")}>
            <input {...text("weight")} />
          </Field>
        </div>
        {last && <button type="button" disabled={busy} onClick={() => void score(last)}>Score {last.name} again</button>}
      </details>
      <Refusal error={error} placed={["/query/target", "/query/weight"]} />
    </section>
  );
}
