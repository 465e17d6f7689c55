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

const LIST_OF = { dataset: "datasets", job: "jobs", model: "models", sweep: "jobs" } as const; // the view that lists them

/** Deletes a record, returns to the list and offers to restore the record. */
export function DeleteButton({ kind, id }: { kind: keyof typeof LIST_OF; id: string }) {
  const { run, busy, error } = useAction();
  const act = () => run(async () => {
    await remove(`${kind}s`, [id]);
    go(`/${LIST_OF[kind]}`);
  });
  return (
    <>
      <button type="button" disabled={busy} onClick={() => void act()}>Delete</button>
      <Refusal error={error} />
    </>
  );
}
