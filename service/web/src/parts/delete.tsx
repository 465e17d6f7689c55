// The button that deletes the record of a view.
import { go } from "../router.ts";
import { useAction } from "../state/action.ts";
import { remove } from "../state/removal.ts";
import { Refusal } from "./states.tsx";

const LIST_OF = { dataset: "datasets", job: "jobs", model: "models", sweep: "jobs?show=sweeps" } as const; // the view that lists them

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
