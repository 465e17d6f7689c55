// Compares models: scores, parameters, confusion matrices and trees.
import { useState } from "preact/hooks";
import { ifFound } from "../api/client.ts";
import type { ScoresInput } from "../api/types.ts";
import { ConfusionMatrix, type Mode, ModeChoice, modeOf } from "../evaluation/confusion.tsx";
import { number, orDash, percent } from "../format.ts";
import { Choice } from "../parts/choice.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Await } from "../parts/states.tsx";
import { accuracyWords, intervalWords, isWeighted, unbounded } from "../quality/sentences.ts";
import { keepInLink, place } from "../router.ts";
import { useResource } from "../state/resource.ts";
import { depthOf, leafCount } from "../tree/shape.ts";
import { TreeView } from "../tree/view.tsx";
import { BEYOND_SPACE, title } from "../words.ts";
import { type Loaded, loadModel } from "./detail.tsx";
import { parametersOf } from "./parameters.ts";

export const MAX_COMPARED = 6; // models side by side

const ROWS = { validation: "Held-back rows", train: "Training rows" };
type Rows = keyof typeof ROWS;

interface Line {
  name: string;
  of: (loaded: Loaded, rows: Rows) => number | null | undefined;
  show: (value: number) => string;
  better?: "more" | "less";
  scores?: (loaded: Loaded, rows: Rows) => ScoresInput | null; // with it, the interval is shown
  either?: true; // about the chosen rows
  optional?: true; // left out if no model has it
}

const score = (name: string, key: "balanced_accuracy" | "macro_f1" | "roc_auc" | "log_loss" | "brier_score", show: Line["show"], better: Line["better"]): Line =>
  ({ name, of: ({ model }, rows) => model.metrics[rows]?.[key], show, better, either: true });

const LINES: Line[] = [
  { name: "Held-back accuracy", of: ({ model }) => model.metrics.validation_accuracy, show: percent, better: "more", scores: ({ model }) => model.metrics.validation },
  { name: "Training accuracy", of: ({ model }) => model.metrics.train_accuracy, show: percent, better: "more", scores: ({ model }) => model.metrics.train },
  score("Balanced accuracy", "balanced_accuracy", percent, "more"),
  { ...score("Macro F1", "macro_f1", percent, "more"), optional: true },
  { ...score("ROC AUC", "roc_auc", percent, "more"), optional: true },
  score("Log loss", "log_loss", number, "less"),
  { ...score("Brier score", "brier_score", number, "less"), optional: true },
  { name: "Leaves", of: ({ model }) => leafCount(model.tree), show: number, better: "less" },
  { name: "Depth", of: ({ model }) => depthOf(model.tree), show: number },
  { name: "Cost on its training rows", of: ({ model }) => model.objective, show: number },
  { name: "Gap", of: ({ model }) => (unbounded(model) ? null : model.gap_relative), show: percent, better: "less" },
];

export function Compare({ ids }: { ids: string[] }) {
  const wanted = ids.slice(0, MAX_COMPARED);
  const models = useResource(ids.join(" "), (signal) => Promise.all(wanted.map((id) => ifFound(loadModel(id, signal)))));
  return (
    <>
      <ViewHead title="Compare models" list="Models" about={ids.length > MAX_COMPARED && `The first ${MAX_COMPARED} of ${ids.length} are shown.`} />
      <Await from={models} what="Loading the models">
        {(found) => {
          const loaded = found.filter((each) => each !== undefined);
          return (
            <>
              <Missing ids={wanted.filter((_, i) => !found[i])} />
              {loaded.length > 0 && <Compared loaded={loaded} />}
            </>
          );
        }}
      </Await>
    </>
  );
}

/** Names the models that are deleted. Their own views may restore them. */
function Missing({ ids }: { ids: string[] }) {
  if (!ids.length) return null;
  return (
    <p class="notice warn">
      <span>
        {ids.length === 1 ? "This model does not exist any more: " : "These models do not exist any more: "}
        {ids.map((id, i) => <>{i > 0 && ", "}<a href={`#/models/${id}`}><code>{id}</code></a></>)}.
      </span>
    </p>
  );
}

function Compared({ loaded }: { loaded: Loaded[] }) {
  // All models are compared on held-back rows, or all on training rows.
  const held = loaded.every(({ model }) => model.metrics.validation);
  const [rows, setRows] = useState<Rows>(() => (held && place.value.query.get("rows") !== "train" ? "validation" : "train"));
  const [mode, setMode] = useState<Mode>(() => modeOf(place.value.query.get("cells")));
  const different = new Set(loaded.map(({ model }) => model.dataset_id)).size > 1;
  const lines = LINES.filter((line) => !line.optional || loaded.some((each) => line.of(each, rows) != null));
  return (
    <>
      {different && <p class="notice warn">These models were trained on different datasets, so their scores cannot be compared.</p>}
      {held && (
        <Choice<Rows> label="Rows" choices={ROWS} value={rows} onValue={(next) => {
          setRows(next);
          keepInLink({ rows: next === "train" ? next : null });
        }} />
      )}
      <div class="scroll apart" role="region" aria-label="Figures" tabIndex={0}>
        <table class="list compare">
          <Heads loaded={loaded} name="Figure" />
          <tbody>{lines.map((line) => <Figures key={line.name} line={line} rows={rows} loaded={loaded} />)}</tbody>
        </table>
      </div>
      <Parameters loaded={loaded} />
      <div class="row apart">
        <h2>Confusion matrices and trees</h2>
        <span class="push"><ModeChoice mode={mode} onMode={(next) => {
          setMode(next);
          keepInLink({ cells: next === "counts" ? null : next });
        }} /></span>
      </div>
      <div class="pair">
        {loaded.map(({ model, dataset }) => (
          <section class="panel" aria-label={title(model)}>
            <h2>{title(model)}</h2>
            {model.beyond_space && <p class="quiet note">{BEYOND_SPACE}</p>}
            <ConfusionMatrix matrix={model.metrics[rows]?.confusion_matrix ?? null} mode={mode} caption={ROWS[rows]} of={title(model)} weighted={isWeighted(model.metrics[rows])} />
            <TreeView tree={model.tree} dataset={dataset} rowsOf={`/v1/models/${model.id}`} name={title(model)} />
          </section>
        ))}
      </div>
    </>
  );
}

function Heads({ loaded, name }: { loaded: Loaded[]; name: string }) {
  return (
    <thead>
      <tr><th scope="col"><span class="unseen">{name}</span></th>{loaded.map(({ model }) => <th scope="col" class="right"><a href={`#/models/${model.id}`}>{title(model)}</a></th>)}</tr>
    </thead>
  );
}

/** Highlights the best value of a line. */
function Figures({ line, rows, loaded }: { line: Line; rows: Rows; loaded: Loaded[] }) {
  const values = loaded.map((each) => line.of(each, rows));
  const known = values.filter((value) => value != null);
  const best = line.better && new Set(known).size > 1 ? (line.better === "more" ? Math.max : Math.min)(...known) : null;
  return (
    <tr>
      <th scope="row">{line.name}{line.either && <span class="quiet">, {ROWS[rows].toLowerCase()}</span>}</th>
      {values.map((value, i) => {
        const scores = line.scores?.(loaded[i], rows);
        return (
          <td class={value != null && value === best ? "right strong" : "right"} title={scores ? intervalWords(scores) : undefined}>
            {scores ? accuracyWords(scores) : orDash(value, line.show)}{value != null && value === best && <span class="unseen"> (better)</span>}
          </td>
        );
      })}
    </tr>
  );
}

/** The parameters side by side; those that differ are marked and come first. */
function Parameters({ loaded }: { loaded: Loaded[] }) {
  const all = loaded.map(({ model }) => new Map(parametersOf(model.parameters).map((parameter) => [parameter.name, parameter])));
  const names = [...new Set(all.flatMap((each) => [...each.keys()]))];
  const differs = (name: string) => new Set(all.map((each) => each.get(name)?.value)).size > 1;
  const [different, same] = [names.filter(differs), names.filter((name) => !differs(name))];
  const row = (name: string) => (
    <tr class={differs(name) ? "changed" : undefined}>
      <th scope="row"><code>{name}</code></th>
      {all.map((each) => <td class="right">{each.get(name)?.value ?? "–"}</td>)}
    </tr>
  );
  return (
    <>
      <div class="row apart">
        <h2>Parameters</h2>
        <CopyButton small label="Copy the parameters" text={() => JSON.stringify(loaded.map(({ model }) => ({ id: model.id, parameters: model.parameters })), null, 2)} />
        <span class="quiet">{different.length ? "Those that differ are marked." : "All parameters are the same."}</span>
      </div>
      <div class="scroll" role="region" aria-label="Parameters" tabIndex={0}>
        <table class="list compact compare"><Heads loaded={loaded} name="Parameter" /><tbody>{different.map(row)}</tbody></table>
      </div>
      <details>
        <summary>{same.length} parameters that are the same</summary>
        <div class="scroll" role="region" aria-label="Equal parameters" tabIndex={0}>
          <table class="list compact compare"><Heads loaded={loaded} name="Parameter" /><tbody>{same.map(row)}</tbody></table>
        </div>
      </details>
    </>
  );
}
