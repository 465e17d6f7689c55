// Compares two models: figures, confusion matrices and trees.
import { number, orDash, percent } from "../format.ts";
import { ViewHead } from "../parts/head.tsx";
import { Await } from "../parts/states.tsx";
import { useResource } from "../state/resource.ts";
import { depthOf, leafCount } from "../tree/shape.ts";
import { TreeView } from "../tree/view.tsx";
import { BEYOND_SPACE, title } from "../words.ts";
import { ConfusionMatrix } from "./confusion.tsx";
import { type Loaded, loadModel } from "./detail.tsx";

type Rows = "validation" | "train";
interface Line { name: string; of: (loaded: Loaded, rows: Rows) => number | null | undefined; show: (value: number) => string; better?: "more" | "less"; either?: true }

const LINES: Line[] = [
  { name: "Held-back accuracy", of: ({ model }) => model.metrics.validation_accuracy, show: percent, better: "more" },
  { name: "Training accuracy", of: ({ model }) => model.metrics.train_accuracy, show: percent, better: "more" },
  { name: "Balanced accuracy", of: ({ model }, rows) => model.metrics[rows]?.balanced_accuracy, show: percent, better: "more", either: true },
  { name: "Log loss", of: ({ model }, rows) => model.metrics[rows]?.log_loss, show: number, better: "less", either: true },
  { name: "Leaves", of: ({ model }) => leafCount(model.tree), show: number, better: "less" },
  { name: "Depth", of: ({ model }) => depthOf(model.tree), show: number },
  { name: "Cost on its training rows", of: ({ model }) => model.objective, show: number },
  { name: "Gap", of: ({ model }) => model.gap_relative, show: percent, better: "less" },
];

export function Compare({ ids }: { ids: string[] }) {
  const pair = useResource(ids.join(" "), (signal) => Promise.all(ids.slice(0, 2).map((id) => loadModel(id, signal))));
  return (
    <>
      <ViewHead title="Compare two models" list="Models" />
      <Await from={pair} what="Loading the models">{(loaded) => <Pair loaded={loaded} />}</Await>
    </>
  );
}

function Pair({ loaded }: { loaded: Loaded[] }) {
  // Compare both models on validation rows, or both on training rows.
  const rows = loaded.every(({ model }) => model.metrics.validation) ? "validation" : "train";
  const caption = rows === "validation" ? "Held-back rows" : "Training rows";
  const different = loaded[0].model.dataset_id !== loaded[1].model.dataset_id;
  return (
    <>
      {different && <p class="notice warn">These models were trained on different datasets, so their scores cannot be compared.</p>}
      <div class="scroll" role="region" aria-label="Figures" tabIndex={0}>
        <table class="list compare">
          <thead>
            <tr><th scope="col"><span class="unseen">Figure</span></th>{loaded.map(({ model }) => <th scope="col" class="right"><a href={`#/models/${model.id}`}>{title(model)}</a></th>)}</tr>
          </thead>
          <tbody>
            {LINES.map((line) => <Figures key={line.name} line={line} rows={line.either ? caption : ""} values={loaded.map((entry) => line.of(entry, rows))} />)}
          </tbody>
        </table>
      </div>
      <div class="pair">
        {loaded.map(({ model, dataset }) => (
          <section class="panel" aria-label={title(model)}>
            <h2>{title(model)}</h2>
            {model.beyond_space && <p class="quiet note">{BEYOND_SPACE}</p>}
            <ConfusionMatrix scores={model.metrics[rows]} caption={caption} of={title(model)} />
            <TreeView tree={model.tree} dataset={dataset} rowsOf={`/v1/models/${model.id}`} name={title(model)} />
          </section>
        ))}
      </div>
    </>
  );
}

/** Highlights the better value of a line. */
function Figures({ line, rows, values }: { line: Line; rows: string; values: (number | null | undefined)[] }) {
  const [a, b] = values;
  const winner = line.better && a != null && b != null && a !== b ? Number((a < b) === (line.better === "more")) : -1;
  return (
    <tr>
      <th scope="row">{line.name}{rows && <span class="quiet">, {rows.toLowerCase()}</span>}</th>
      {values.map((value, i) => (
        <td class={i === winner ? "right strong" : "right"}>{orDash(value, line.show)}{i === winner && <span class="unseen"> (better)</span>}</td>
      ))}
    </tr>
  );
}
