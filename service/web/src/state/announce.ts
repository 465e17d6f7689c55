// Announcements for screen readers.
import { Signal } from "./signal.ts";

export const announcement = new Signal("");

export function announce(text: string): void {
  announcement.set(text);
}
