// What the title of the browser's tab says before the name of the page.
import { useEffect } from "preact/hooks";
import { Signal } from "./signal.ts";

/** null shows the name of the view. */
export const tabTitle = new Signal<string | null>(null);

/** Shows a text in the title while the view is open. */
export function useTabTitle(text: string | null): void {
  useEffect(() => tabTitle.set(text), [text]);
  useEffect(() => () => tabTitle.set(null), []);
}
