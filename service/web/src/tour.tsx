// Three sentences about what the page is for.
import { useEffect, useRef } from "preact/hooks";
import { IconButton } from "./parts/icons.tsx";
import { place } from "./router.ts";
import { useSignal } from "./state/signal.ts";
import { closeTour, tour } from "./state/tour.ts";

export function Tour() {
  const state = useSignal(tour);
  const { path } = useSignal(place);
  const element = useRef<HTMLElement>(null);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    if (state !== "open") return;
    before.current = document.activeElement;
    element.current?.focus();
  }, [state]);
  const close = () => {
    closeTour();
    if (before.current instanceof HTMLElement) before.current.focus();
  };
  const start = path.length === 0 || (path.length === 1 && path[0] === "datasets");
  if (state === "closed" || (state === "first" && !start)) return null;
  return (
    <aside class="tour" aria-label="Tour" tabIndex={-1} ref={element} onKeyDown={(event) => event.key === "Escape" && close()}>
      <ol>
        <li>Add a table under <a href="#/datasets">Datasets</a>, or the sample data, and choose the column to predict.</li>
        <li>Start a search under <a href="#/train">Train</a>: Literati shows the best decision tree so far and proves how much better any other tree could be.</li>
        <li>Judge the tree on rows that were held back, read it, and <a href="#/predict">predict</a> new rows with it.</li>
      </ol>
      <IconButton name="close" label="Close the tour" onClick={close} />
    </aside>
  );
}
