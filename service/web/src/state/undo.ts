// The message at the foot of the page: the last action that can be undone, or what has happened.
import { announcement } from "./announcement.ts";
import { Signal } from "./signal.ts";

export interface Message { text: string; undo?: () => Promise<unknown> }

export const message = new Signal<Message | null>(null);

/** Grows when an action was undone, so that whatever is visible loads again. */
export const undone = new Signal(0);

/** Tells what was done, and offers to undo it until the next action or until the message is closed. */
export function offerUndo(text: string, undo: () => Promise<unknown>): void {
  message.set({ text, undo });
  announcement.set(`${text} You can undo this.`);
}

/** Shows a message until the user closes it. */
export function showMessage(text: string): void {
  message.set({ text });
  announcement.set(text);
}
