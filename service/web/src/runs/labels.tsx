// The name, the tags and the notes of a record, which can be changed.
import { useState } from "preact/hooks";
import { complaintAt, send } from "../api/client.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { IconButton } from "../parts/icons.tsx";
import { Refusal } from "../parts/states.tsx";
import { useAction } from "../state/action.ts";
import type { Kind } from "../state/removal.ts";
import { title } from "../words.ts";
import { TagEditor } from "./tags.tsx";

interface Labelled { id: string; name: string | null; notes?: string | null; tags?: Record<string, string> }
type Patch = { name?: string | null; notes?: string | null; tags?: Record<string, string | null> };

interface Props<Item extends Labelled> {
  kind: Kind;
  record: Item;
  onChange: (record: Item) => void;
}

/** The panel of a record's own view. */
export function Labels<Item extends Labelled>(props: Props<Item>) {
  return (
    <section class="panel" aria-label={`About ${title(props.record)}`}>
      <h2>About</h2>
      <LabelFields {...props} />
    </section>
  );
}

/** A button that opens the fields in a dialog, for tables and heads of views. */
export function EditLabels<Item extends Labelled>(props: Props<Item> & { name?: string }) {
  const [open, setOpen] = useState(false);
  const name = props.name ?? title(props.record);
  return (
    <>
      <IconButton name="edit" label={`Rename or tag ${name}`} onClick={() => setOpen(true)} />
      {open && (
        <Dialog title="Name, tags and notes" onClose={() => setOpen(false)}>
          <LabelFields {...props} onSaved={() => setOpen(false)} />
          <div class="row end"><button type="button" onClick={() => setOpen(false)}>Close</button></div>
        </Dialog>
      )}
    </>
  );
}

function LabelFields<Item extends Labelled>({ kind, record, onChange, onSaved }: Props<Item> & { onSaved?: () => void }) {
  const [edited, setEdited] = useState<{ name?: string; notes?: string }>({});
  const { run, busy, error } = useAction();
  const change = (patch: Patch) => run(async () =>
    onChange({ ...record, ...await send<Partial<Item>>("PATCH", `/v1/${kind}/${record.id}`, patch) }));
  const name = edited.name ?? record.name ?? "";
  const notes = edited.notes ?? record.notes ?? "";
  const patch: Patch = {
    ...(name.trim() !== (record.name ?? "") && { name: name.trim() || null }),
    ...(notes !== (record.notes ?? "") && { notes: notes || null }),
  };
  const changed = Object.keys(patch).length > 0;
  const save = async () => {
    if (changed && !await change(patch)) return;
    setEdited({});
    onSaved?.();
  };
  return (
    <div class="labels">
      <form onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}>
        <Field name="Name" error={complaintAt(error, "/body/name")}>
          <input
            value={name} placeholder={title({ ...record, name: null })} maxLength={200} autocomplete="off"
            onInput={(event) => setEdited({ ...edited, name: event.currentTarget.value })}
          />
        </Field>
        <Field name="Notes" error={complaintAt(error, "/body/notes")}>
          <textarea
            rows={Math.min(12, Math.max(2, notes.split("\n").length))} maxLength={4000} value={notes}
            onInput={(event) => setEdited({ ...edited, notes: event.currentTarget.value })}
          />
        </Field>
        <div class="row">
          <button class={changed ? "primary" : undefined} disabled={busy || !changed}>Save</button>
          {changed && <button type="button" onClick={() => setEdited({})}>Undo the changes</button>}
        </div>
      </form>
      {record.tags !== undefined && <TagEditor tags={record.tags} busy={busy} error={complaintAt(error, "/body/tags")} onChange={(tags) => change({ tags })} />}
      <Refusal error={error} placed={["/body/name", "/body/notes", "/body/tags"]} />
      <p class="quiet id-line">Id <code>{record.id}</code><CopyButton small label="Copy the id" text={record.id} /></p>
    </div>
  );
}
