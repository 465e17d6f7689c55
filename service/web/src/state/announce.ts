// What a screen reader is told when nobody has moved the focus.
import { Signal } from "./signal.ts";

export const announcement = new Signal("");

export function announce(text: string): void {
  announcement.set(text);
}
