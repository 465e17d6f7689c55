// Deletes records, and offers to restore them.
import { send } from "../api/client.ts";
import { counted } from "../format.ts";
import { Signal } from "./signal.ts";
import { offerUndo } from "./undo.ts";

export type Kind = "jobs" | "sweeps" | "models" | "datasets";

const AT_ONCE = 4; // requests; a browser opens only six connections

/** Grows when records were deleted, so that the lists load again. */
export const changes = new Signal(0);

/** Deletes the records and offers to restore them. If some cannot be deleted, the others are, and the first error is thrown. */
export async function remove(kind: Kind, ids: string[]): Promise<void> {
  const { done, error } = await forEach(ids, (id) => send("DELETE", `/v1/${kind}/${id}`));
  if (done.length) {
    changes.set(changes.value + 1);
    const words = `${counted(done.length, kind.slice(0, -1))} ${done.length === 1 ? "was" : "were"} deleted.`;
    offerUndo(words, () => restore(kind, done));
  }
  if (error !== undefined) throw error;
}

/** Restores a record by the path that the error about the deleted record names. */
export async function restoreBy(path: string): Promise<void> {
  await send("POST", path);
  changes.set(changes.value + 1);
}

async function restore(kind: Kind, ids: string[]): Promise<void> {
  const { error } = await forEach(ids, (id) => send("POST", `/v1/${kind}/${id}/restore`));
  if (error !== undefined) throw error;
}

/** Sends a request for each id, some at once. Returns the ids for which it succeeded, and the first error. */
async function forEach(ids: string[], ask: (id: string) => Promise<unknown>): Promise<{ done: string[]; error?: unknown }> {
  const waiting = [...ids];
  const done: string[] = [];
  let error: unknown;
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        await ask(id);
        done.push(id);
      } catch (refused) {
        error ??= refused;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { done, error };
}
