// Where a model comes from: ids, parameters and versions, ready to copy.
import type { ComponentChildren } from "preact";
import { json } from "../use/literals.ts";
import { moment } from "../format.ts";
import { CopyButton } from "../parts/copy.tsx";
import { spaceWords, title } from "../words.ts";
import type { Loaded } from "./detail.tsx";
import { parametersOf } from "./parameters.ts";

export function About({ model, dataset, children }: Loaded & { children: ComponentChildren }) {
  const ids = [
    { name: "Model", id: model.id },
    { name: `Job, tree ${model.incumbent_revision}`, id: model.job_id, href: `#/jobs/${model.job_id}` },
    { name: "Dataset", id: model.dataset_id, href: dataset && `#/datasets/${model.dataset_id}`, note: dataset ? title(dataset) : "deleted" },
    { name: "SHA-256 of the data", id: model.dataset_sha256 },
  ];
  return (
    <div class="columns">
      <section class="panel" aria-label="Origin">
        <h2>Origin</h2>
        <dl class="origin">
          {ids.map(({ name, id, href, note }) => (
            <div>
              <dt>{name}{note && <span class="quiet"> ({note})</span>}</dt>
              <dd>{href ? <a href={href}><code>{id}</code></a> : <code>{id}</code>}<CopyButton small text={id} label={`Copy the id: ${name}`} /></dd>
            </div>
          ))}
          <div><dt>Created</dt><dd>{moment(model.created_at)}</dd></div>
          <div><dt>Version of Literati</dt><dd>{model.engine_version}</dd></div>
          {model.space && <div><dt>Search space of the bounds</dt><dd>{spaceWords(model.space)}</dd></div>}
          {model.proven_space && model.proven_space !== model.space && <div><dt>Proven search space</dt><dd>{spaceWords(model.proven_space)}</dd></div>}
        </dl>
      </section>
      <section class="panel" aria-label="Parameters">
        <div class="row"><h2>Parameters</h2><span class="push"><CopyButton text={() => json(model.parameters)} label="Copy as JSON" /></span></div>
        <p class="help">Values that are not the default are bold.</p>
        <table class="list compact parameters">
          <thead><tr><th scope="col">Parameter</th><th scope="col">Value</th><th scope="col"><span class="unseen">Copy</span></th></tr></thead>
          <tbody>
            {parametersOf(model.parameters).map((parameter) => (
              <tr class={parameter.standard ? undefined : "strong"} title={parameter.description}>
                <th scope="row"><code>{parameter.name}</code></th>
                <td class={parameter.standard ? "quiet" : undefined}>{parameter.value}</td>
                <td class="right"><CopyButton small text={`${parameter.name}=${parameter.json}`} label={`Copy ${parameter.name}`} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {children}
    </div>
  );
}
