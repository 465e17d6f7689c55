// Files of a model to download.
import { request } from "../api/client.ts";
import type { ModelWithTree } from "../api/types.ts";
import { Refusal } from "../parts/states.tsx";
import { fileName, save } from "../save.ts";
import { useAction } from "../state/action.ts";
import { title } from "../words.ts";

interface Export { name: string; about: string; ending: string; type: string; text: (model: ModelWithTree) => Promise<string> | string }

const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const fetched = (part: string) => async ({ id }: ModelWithTree) => (await request(`/v1/models/${id}/${part}`, { headers: { Accept: "*/*" } })).text();

const EXPORTS: Export[] = [
  { name: "JSON model", about: "The tree, to predict in any language", ending: ".json", type: "application/json", text: ({ tree }) => pretty(tree) },
  { name: "Rules", about: "The tree as nested rules in text", ending: "-rules.txt", type: "text/plain", text: fetched("rules") },
  { name: "SVG", about: "A drawing of the tree", ending: ".svg", type: "image/svg+xml", text: fetched("tree.svg") },
  { name: "Metrics", about: "All scores as JSON", ending: "-metrics.json", type: "application/json", text: ({ metrics }) => pretty(metrics) },
];

export function Exports({ model }: { model: ModelWithTree }) {
  const { run, busy, error } = useAction();
  const download = ({ ending, type, text }: Export) => run(async () => save(`${fileName(title(model))}${ending}`, type, await text(model)));
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
