// The form for the name and the notes of a dataset.
import { useState } from "preact/hooks";
import { complaintAt, send } from "../api/client.ts";
import type { Dataset } from "../api/types.ts";
import { Field } from "../parts/field.tsx";
import { Refusal } from "../parts/states.tsx";
import { useAction } from "../state/action.ts";

export function LabelsForm({ dataset, onSaved, onClose }: { dataset: Dataset; onSaved: () => void; onClose: () => void }) {
  const [name, setName] = useState(dataset.name ?? "");
  const [notes, setNotes] = useState(dataset.notes ?? "");
  const { run, busy, error } = useAction();
  const save = async (event: Event) => {
    event.preventDefault();
    const body = { name: name.trim() || null, notes: notes.trim() || null };
    if (!(await run(() => send("PATCH", `/v1/datasets/${dataset.id}`, body)))) return;
    onSaved();
    onClose();
  };
  return (
    <form class="panel labels" onSubmit={save} onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <div class="fields">
        <Field name="Name" error={complaintAt(error, "/body/name")}>
          <input value={name} maxLength={200} autofocus onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <Field name="Notes" error={complaintAt(error, "/body/notes")} help="For example where the data comes from.">
          <textarea rows={3} value={notes} maxLength={4000} onInput={(event) => setNotes(event.currentTarget.value)} />
        </Field>
      </div>
      <Refusal error={error} placed={["/body/name", "/body/notes"]} />
      <div class="row">
        <button class="primary" disabled={busy}>Save</button>
        <button type="button" onClick={onClose}>Cancel</button>
      </div>
    </form>
  );
}
