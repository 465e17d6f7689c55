// The panel with the parameters of a job: first those that are not the defaults.
import type { Job } from "../api/types.ts";
import { counted } from "../format.ts";
import { CopyButton } from "../parts/copy.tsx";
import { title } from "../words.ts";
import { type Setting, settingsJson, settingsOf } from "./setting-list.ts";

export function Settings({ job }: { job: Job }) {
  const all = settingsOf(job);
  const usual = all.filter((setting) => setting.usual);
  return (
    <section class="panel settings" aria-label={`Parameters of ${title(job)}`}>
      <div class="row">
        <h2>Parameters</h2>
        <span class="push"><CopyButton text={() => settingsJson(job)} label="Copy as JSON" /></span>
      </div>
      <List settings={all.filter((setting) => !setting.usual)} />
      <details>
        <summary>{counted(usual.length, "parameter has its default", "parameters have their defaults")}</summary>
        <List settings={usual} />
      </details>
    </section>
  );
}

function List({ settings }: { settings: Setting[] }) {
  return (
    <dl class="setting-list">
      {settings.map(({ name, label, value, json, about }) => (
        <div key={name} title={about}>
          <dt>{label} <code class="quiet">{name}</code></dt>
          <dd>{value}<CopyButton small text={`${name}=${json}`} label={`Copy ${name}`} /></dd>
        </div>
      ))}
    </dl>
  );
}
