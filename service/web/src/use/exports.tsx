// Files of a model to download.
import { request } from "../api/client.ts";
import type { ModelWithTree } from "../api/types.ts";
import { Refusal } from "../parts/states.tsx";
import { fileName, save } from "../save.ts";
import { useAction } from "../state/action.ts";
import { title } from "../words.ts";

interface Download { name: string; content: BlobPart; type: string }
interface Export { name: string; about: string; file: (model: ModelWithTree) => Promise<Download> }

const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const named = (ending: string, type: string, content: (model: ModelWithTree) => Promise<BlobPart> | BlobPart) => async (model: ModelWithTree) => (
  { name: `${fileName(title(model))}${ending}`, type, content: await content(model) }
);
const answer = ({ id }: ModelWithTree, part: string) => request(`/v1/models/${id}/${part}`, { headers: { Accept: "*/*" } });
const fetched = (part: string) => async (model: ModelWithTree) => (await answer(model, part)).text();

/** The server names the file: a module or a class in it must have this name. */
const exported = (format: string) => async (model: ModelWithTree) => {
  const file = await answer(model, `export?format=${format}`);
  const name = /filename="([^"]+)"/.exec(file.headers.get("Content-Disposition") ?? "")?.[1] ?? "tree";
  const content = await file.blob();
  return { name, type: content.type, content };
};

const EXPORTS: Export[] = [
  { name: "JSON model", about: "The tree, to predict in any language", file: named(".json", "application/json", ({ tree }) => pretty(tree)) },
  { name: "Rules", about: "The tree as nested rules in text", file: named("-rules.txt", "text/plain", fetched("rules")) },
  { name: "SVG", about: "A drawing of the tree", file: named(".svg", "image/svg+xml", fetched("tree.svg")) },
  { name: "Metrics", about: "All scores as JSON", file: named("-metrics.json", "application/json", ({ metrics }) => pretty(metrics)) },
  { name: "PostgreSQL", about: "A query that predicts the rows of a table", file: exported("sql-postgresql") },
  { name: "DuckDB", about: "The same query for DuckDB", file: exported("sql-duckdb") },
  { name: "SQLite", about: "The same query for SQLite", file: exported("sql-sqlite") },
  { name: "SQL", about: "The same query in standard SQL", file: exported("sql-ansi") },
  { name: "Python", about: "A module without dependencies", file: exported("python") },
  { name: "JavaScript", about: "A module without dependencies", file: exported("javascript") },
  { name: "Java", about: "A class without dependencies", file: exported("java") },
  { name: "C", about: "A source file without dependencies", file: exported("c") },
  { name: "ONNX", about: "A model for ONNX runtimes", file: exported("onnx") },
  { name: "PMML", about: "A model for PMML evaluators", file: exported("pmml") },
  { name: "MLflow", about: "A folder that MLflow loads, as a zip archive", file: exported("mlflow") },
];

export function Exports({ model }: { model: ModelWithTree }) {
  const { run, busy, error } = useAction();
  const download = ({ file }: Export) => run(async () => {
    const { name, type, content } = await file(model);
    save(name, type, content);
  });
  return (
    <section class="panel" aria-label="Downloads">
      <h2>Downloads</h2>
      <ul class="exports">
        {EXPORTS.map((each) => (
          <li>
            <button type="button" disabled={busy} onClick={() => void download(each)}>{each.name}</button>
            <span class="quiet">{each.about}</span>
          </li>
        ))}
      </ul>
      <Refusal error={error} />
    </section>
  );
}
