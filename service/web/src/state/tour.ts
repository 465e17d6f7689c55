// Whether the tour is shown: at the first arrival, and on request.
import { Signal } from "./signal.ts";

const NAME = "literati.tour";

/** "first": only on the start page. */
export const tour = new Signal<"closed" | "first" | "open">(localStorage.getItem(NAME) ? "closed" : "first");

export function closeTour(): void {
  localStorage.setItem(NAME, "seen");
  tour.set("closed");
}
