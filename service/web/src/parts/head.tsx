// The head of a view.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { go } from "../router.ts";
import { useAction } from "../state/action.ts";
import { remove } from "../state/removal.ts";
import { Confirm } from "./dialog.tsx";
import { Refusal } from "./states.tsx";

interface Props {
  title: string;
  list?: string; // the name of the list that the view belongs to
  beside?: ComponentChildren; // next to the title
  about?: ComponentChildren;
  level?: "h1" | "h2";
  children?: ComponentChildren; // actions
}

export function ViewHead({ title, list, beside, about, level: Title = "h1", children }: Props) {
  return (
    <header class="view-head">
      {list && <nav class="crumbs" aria-label="Breadcrumb"><a href={`#/${list.toLowerCase()}`}>{list}</a></nav>}
      <div class="row"><Title tabIndex={-1}>{title}</Title>{beside}</div>
      {about && <p class="quiet">{about}</p>}
      {children && <div class="row actions">{children}</div>}
    </header>
  );
}

/** Deletes a record, returns to the list and offers to restore the record. With `text` it asks first. */
export function DeleteButton({ kind, id, text }: { kind: "dataset" | "job" | "sweep" | "model"; id: string; text?: string }) {
  const [asking, setAsking] = useState(false);
  const { run, busy, error } = useAction();
  const list = kind === "sweep" ? "/jobs?show=sweeps" : `/${kind}s`;
  const act = () => run(async () => {
    setAsking(false);
    await remove(`${kind}s`, [id]);
    go(list);
  });
  return (
    <>
      <button type="button" disabled={busy} onClick={() => (text ? setAsking(true) : void act())}>Delete</button>
      <Refusal error={error} />
      {asking && (
        <Confirm title={`Delete this ${kind}?`} text={text!} yes="Delete" onYes={() => void act()} onNo={() => setAsking(false)} />
      )}
    </>
  );
}
