// Predicts one row: a form with the model's columns, the prediction, and the path in the tree.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { complaintAt, LostError, pointerPart, send } from "../api/client.ts";
import type { Predictions, TreeColumn, TreeNumberColumn } from "../api/types.ts";
import { cell, count, counted, exact } from "../format.ts";
import { Field } from "../parts/field.tsx";
import { Empty, Refusal } from "../parts/states.tsx";
import { connected } from "../state/connection.ts";
import { TreeView } from "../tree/view.tsx";
import { PredictionPanel } from "./answer.tsx";
import { addressOf, type Source } from "./source.ts";

const PAUSE = 200; // milliseconds after the last change
const MAX_CHOICES = 200; // in a select; for more there is a text field

/** The typed texts by column; an empty text is a missing value. */
type Texts = Record<string, string>;

export function OneRow({ source }: { source: Source }) {
  const columns = useMemo(() => source.tree.columns.filter((column) => !column.constant), [source]);
  const [texts, setTexts] = useState<Texts>(() => textsOf(columns, source.preview?.records[0]));
  const [row, setRow] = useState(0);
  const { predictions, error } = usePredictions(source, columns, texts);
  const rows = source.preview?.records.length ?? 0;
  const take = () => {
    const next = (row + 1) % rows;
    setRow(next);
    setTexts(textsOf(columns, source.preview!.records[next]));
  };
  const path = useMemo(
    () => (predictions ? [...predictions.explanations![0].steps.map((step) => step.node), predictions.leaf_ids[0]] : undefined), [predictions],
  );
  const used = useMemo(() => new Set(source.tree.nodes.flatMap((node) => (node.split ? [source.tree.columns[node.split.column].name] : []))), [source]);
  const asked = columns.filter((column) => used.has(column.name));
  const others = columns.filter((column) => !used.has(column.name));
  const input = (column: TreeColumn) => (
    <Input
      key={column.name} column={column} text={texts[column.name] ?? ""}
      error={complaintAt(error, `/body/records/0/${pointerPart(column.name)}`)}
      onText={(text) => setTexts((old) => ({ ...old, [column.name]: text }))}
    />
  );
  return (
    <div class="predict">
      <form class="panel predict-form" onSubmit={(event) => event.preventDefault()}>
        <div class="row">
          <h2>The row</h2>
          {rows > 1 && <button type="button" class="small push" onClick={take}>Use another row of the dataset</button>}
        </div>
        <p class="quiet">An empty field is a missing value. The prediction is updated while you type.</p>
        <div class="fields narrow">{asked.map(input)}</div>
        {others.length > 0 && (
          <details>
            <summary>{counted(others.length, "column")} that the tree does not use</summary>
            <div class="fields narrow">{others.map(input)}</div>
          </details>
        )}
      </form>
      <section class="panel predict-answer" aria-label="Prediction">
        <h2 class="unseen">Prediction</h2>
        <Refusal error={error} placed={["/body/records/0"]} />
        {predictions ? <PredictionPanel source={source} predictions={predictions} /> : error === undefined && <Empty title="No prediction yet" />}
        <TreeView tree={source.tree} dataset={source.dataset} path={path} rowsOf={source.rowsOf} name={source.name} />
      </section>
    </div>
  );
}

function textsOf(columns: TreeColumn[], record: Record<string, unknown> | undefined): Texts {
  return Object.fromEntries(columns.map(({ name }) => [name, String(record?.[name] ?? "")]));
}

/** Converts a text to a cell of the API: a number, a boolean or a category of the training data. */
function cellOf(column: TreeColumn, text: string): unknown {
  if (text === "") return null;
  if (column.kind === "boolean") return text === "true";
  if (column.kind === "number") return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  return column.categories.find((entry) => String(entry.value) === text)?.value ?? text;
}

function usePredictions(source: Source, columns: TreeColumn[], texts: Texts): { predictions?: Predictions; error?: unknown } {
  const [state, setState] = useState<{ predictions?: Predictions; error?: unknown }>({});
  const [round, setRound] = useState(0);
  const latest = useRef(0);
  useEffect(() => {
    const mine = (latest.current += 1);
    const record = Object.fromEntries(columns.map((column) => [column.name, cellOf(column, texts[column.name] ?? "")]));
    const timer = setTimeout(() => {
      send<Predictions>("POST", addressOf(source, "predict", { explain: "true" }), { records: [record] }).then(
        (predictions) => mine === latest.current && setState({ predictions }),
        (error) => {
          if (mine !== latest.current) return;
          const lost = error instanceof LostError;
          setState((old) => ({ error, predictions: lost ? old.predictions : undefined }));
          if (lost) void connected().then(() => mine === latest.current && setRound((number) => number + 1));
        },
      );
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [source, columns, texts, round]);
  return state;
}

/** Returns a round step, about a two-hundredth of the range; a whole one for whole numbers. */
function stepOf({ minimum, maximum }: TreeNumberColumn): number {
  const span = (maximum ?? 1) - (minimum ?? 0);
  const step = 10 ** Math.floor(Math.log10(span / 100));
  return step < 1 && span >= 10 && Number.isInteger(minimum) && Number.isInteger(maximum) ? 1 : step;
}

function Input(
  { column, text, error, onText }: { column: TreeColumn; text: string; error: string | undefined; onText: (text: string) => void },
) {
  if (column.kind === "number") {
    const [low, high] = [column.minimum ?? 0, column.maximum ?? 0];
    const outside = text !== "" && (Number(text) < low || Number(text) > high);
    const slide = high > low && (
      // The slider is for the mouse only; the field above it is accessible.
      <input
        type="range" class="slide" tabIndex={-1} aria-hidden="true" min={low} max={high} step={stepOf(column)}
        value={text === "" || !Number.isFinite(Number(text)) ? (low + high) / 2 : text} onInput={(event) => onText(event.currentTarget.value)}
      />
    );
    return (
      <Field name={column.name} below={slide} error={error} help={`${exact(low)} to ${exact(high)} in the training data${outside ? "; this value is outside" : ""}`}>
        <input inputMode="decimal" autocomplete="off" value={text} onInput={(event) => onText(event.currentTarget.value)} />
      </Field>
    );
  }
  const choices = column.kind === "boolean" ? ["true", "false"] : column.categories.map((entry) => String(entry.value));
  if (choices.length > MAX_CHOICES) {
    const id = `choices of ${column.name}`.replace(/\s/g, "-");
    return (
      <>
        <Field name={column.name} error={error} help={`One of ${count(choices.length)} words`}>
          <input list={id} value={text} onInput={(event) => onText(event.currentTarget.value)} />
        </Field>
        <datalist id={id}>{choices.slice(0, 1000).map((choice) => <option value={choice} />)}</datalist>
      </>
    );
  }
  const odd = text !== "" && !choices.includes(text);
  return (
    <Field name={column.name} error={error}>
      <select value={text} onChange={(event) => onText(event.currentTarget.value)}>
        <option value="">missing</option>
        {odd && <option value={text}>{text}</option>}
        {choices.map((choice) => <option value={choice}>{cell(choice)}</option>)}
      </select>
    </Field>
  );
}
