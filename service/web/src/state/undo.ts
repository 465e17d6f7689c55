// The last action that can be undone.
import { announcement } from "./announcement.ts";
import { Signal } from "./signal.ts";

export interface Undoable { text: string; undo: () => Promise<unknown> }

export const undoable = new Signal<Undoable | null>(null);

/** Tells what was done, and offers to undo it until the next action or until the message is closed. */
export function offerUndo(text: string, undo: () => Promise<unknown>): void {
  undoable.set({ text, undo });
  announcement.set(`${text} You can undo this.`);
}
