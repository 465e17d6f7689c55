// What can be done with the chosen runs: compare, delete.
import type { ComponentChildren } from "preact";
import { count, counted } from "../format.ts";
import { Refusal } from "../parts/states.tsx";
import { useAction } from "../state/action.ts";
import { type Kind, remove } from "../state/removal.ts";

interface Props {
  kind: Exclude<Kind, "datasets">;
  ids: string[]; // chosen
  hidden: number; // how many of them the filters hide
  compare?: { most: number; link: (ids: string[]) => string }; // at least two
  keep: string[]; // why some of the chosen ones cannot be deleted, in sentences
  onClear: () => void;
  children?: ComponentChildren; // more actions
}

/** Returns the chosen records in the order in which they were chosen. */
export function pickedOf<Item extends { id: string }>(items: Item[], chosen: Set<string>): Item[] {
  const found = new Map(items.filter(({ id }) => chosen.has(id)).map((item) => [item.id, item]));
  return [...chosen].flatMap((id) => found.get(id) ?? []);
}

export function ChosenBar({ kind, ids, hidden, compare, keep, onClear, children }: Props) {
  const { run, busy, error } = useAction();
  const few = ids.length < 2;
  const many = compare !== undefined && ids.length > compare.most;
  const none = ids.length === 0;
  const notes = [
    none && `Choose ${kind} to ${compare ? "compare or delete" : "delete"} them.`,
    ids.length === 1 && compare && `Choose another one to compare ${compare.most > 2 ? `up to ${compare.most}` : "two"} ${kind}.`,
    many && `At most ${compare!.most} ${kind} can be compared side by side, and ${ids.length} are chosen.`,
    ...keep,
  ].filter(Boolean);
  const clear = async () => {
    if (await run(() => remove(kind, ids))) onClear();
  };
  return (
    <div class={none ? "chosen-bar" : "chosen-bar some"} role="group" aria-label={`Chosen ${kind}`}>
      <div class="row">
        {!none && <strong>{counted(ids.length, kind.slice(0, -1))} chosen</strong>}
        {hidden > 0 && <span class="quiet">{count(hidden)} of them hidden by the filters</span>}
        {compare && (few || many
          ? <button type="button" class="small" disabled>Compare</button>
          : <a class="button small primary" href={compare.link(ids)}>Compare</a>)}
        {children}
        <button type="button" class="small" disabled={busy || none || keep.length > 0} onClick={() => void clear()}>{busy ? "Deleting…" : "Delete"}</button>
        {!none && <button type="button" class="small" onClick={onClear}>Clear the choice</button>}
        <span class="quiet" role="status">{notes.join(" ")}</span>
      </div>
      <Refusal error={error} />
    </div>
  );
}
