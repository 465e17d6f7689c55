// The head of a view.
import type { ComponentChildren } from "preact";
import { go } from "../router.ts";
import { useAction } from "../state/action.ts";
import { remove } from "../state/removal.ts";
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

/** Deletes a record, returns to the list and offers to restore the record. */
export function DeleteButton({ kind, id }: { kind: "dataset" | "job" | "model"; id: string }) {
  const { run, busy, error } = useAction();
  const act = () => run(async () => {
    await remove(`${kind}s`, [id]);
    go(`/${kind}s`);
  });
  return (
    <>
      <button type="button" disabled={busy} onClick={() => void act()}>Delete</button>
      <Refusal error={error} />
    </>
  );
}
