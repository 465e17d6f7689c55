// The names (aliases) of a model.
import { useState } from "preact/hooks";
import { complaintAt, send } from "../api/client.ts";
import type { Alias } from "../api/types.ts";
import { Field } from "../parts/field.tsx";
import { IconButton } from "../parts/icons.tsx";
import { Refusal } from "../parts/states.tsx";
import { useAction } from "../state/action.ts";

export const PRODUCTION = "production";

export function nameModel(alias: string, modelId: string): Promise<Alias> {
  return send<Alias>("PUT", `/v1/models/aliases/${encodeURIComponent(alias)}`, { model_id: modelId });
}

export function Aliases({ modelId, aliases, onChange }: { modelId: string; aliases: Alias[]; onChange: () => void }) {
  const [name, setName] = useState("");
  const { run, error } = useAction();
  const mine = aliases.filter((alias) => alias.model_id === modelId);
  const change = (request: () => Promise<unknown>) => run(async () => {
    await request();
    setName("");
    onChange();
  });
  const current = aliases.find((alias) => alias.name === PRODUCTION);
  return (
    <section class="panel" aria-label="Names">
      <h2>Names</h2>
      <p class="quiet">A program can predict with a name instead of the model's id. You can move a name to another model at any time.</p>
      <ul class="chips">
        {mine.map((alias) => (
          <li class="chip">
            {alias.name}
            <IconButton name="close" label={`Remove the name ${alias.name}`} onClick={() => void change(() => send("DELETE", `/v1/models/aliases/${alias.name}`))} />
          </li>
        ))}
        {mine.length === 0 && <li class="quiet">None</li>}
      </ul>
      {current?.model_id !== modelId && (
        <p>
          <button type="button" class="primary" onClick={() => void change(() => nameModel(PRODUCTION, modelId))}>Use in production</button>
        </p>
      )}
      <form class="row bottom" onSubmit={(event) => {
        event.preventDefault();
        void change(() => nameModel(name.trim(), modelId));
      }}>
        <Field name="Another name" error={complaintAt(error, "/path/alias") ?? complaintAt(error, "/body")}>
          <input value={name} onInput={(event) => setName(event.currentTarget.value)} autocomplete="off" />
        </Field>
        <button disabled={!name.trim()}>Add</button>
      </form>
      <Refusal error={error} placed={["/path/alias", "/body"]} />
    </section>
  );
}
