// The tags of a record: a key, mostly with a value.
import { useRef, useState } from "preact/hooks";
import { Field } from "../parts/field.tsx";
import { IconButton } from "../parts/icons.tsx";
import { offerUndo } from "../state/undo.ts";
import { tagWords } from "./columns.tsx";

interface Props {
  tags: Record<string, string>;
  busy: boolean;
  error: string | undefined;
  onChange: (tags: Record<string, string | null>) => Promise<boolean>; // a merge patch; returns whether it succeeded
}

export function TagEditor({ tags, busy, error, onChange }: Props) {
  const [text, setText] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const add = async () => {
    const [key, ...rest] = text.split(":");
    if (await onChange({ [key.trim()]: rest.join(":").trim() })) setText("");
  };
  const drop = async (key: string) => {
    if (!await onChange({ [key]: null })) return;
    list.current?.focus(); // the button of the tag is gone
    offerUndo(`The tag ${key} was removed.`, async () => {
      if (!await onChange({ [key]: tags[key] })) throw new Error("The tag could not be added again.");
    });
  };
  return (
    <form class="tags" onSubmit={(event) => {
      event.preventDefault();
      void add();
    }}>
      <strong>Tags</strong>
      <ul class="chips" ref={list} tabIndex={-1} aria-label="Tags">
        {Object.entries(tags).map(([key, value]) => (
          <li class="chip" key={key}>
            {tagWords({ [key]: value })}
            <IconButton name="close" label={`Remove the tag ${key}`} disabled={busy} onClick={() => void drop(key)} />
          </li>
        ))}
        {Object.keys(tags).length === 0 && <li class="quiet">None</li>}
      </ul>
      <div class="row bottom">
        <Field name="New tag" error={error}>
          <input value={text} autocomplete="off" onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
        <button disabled={busy || !text.split(":")[0].trim()}>Add</button>
      </div>
      <p class="help">A word, or a key and a value such as team: credit.</p>
    </form>
  );
}
