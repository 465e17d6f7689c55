// The legend of the colours.
import type { Tree } from "../api/types.ts";
import { label } from "../format.ts";
import { classStyle } from "./boxes.ts";

const MAX_CLASSES = 12;

export function Legend({ tree, distribution, changed }: { tree: Tree; distribution: boolean; changed: boolean }) {
  const labels = tree.classes.labels;
  return (
    <div class="legends">
      <ul class="legend" aria-label="Colours">
        <li><span class="swatch side-left" />goes left</li>
        <li><span class="swatch side-right" />goes right</li>
        {distribution && <li class="quiet">bars: the feature in the whole dataset</li>}
        {changed && <li><span class="swatch framed" />changed from the tree before</li>}
      </ul>
      <ul class="legend" aria-label="Colours of the classes">
        <li class="quiet">classes:</li>
        {labels.slice(0, MAX_CLASSES).map((entry, k) => <li><span class={`swatch ${classStyle(k)}`} />{label(entry)}</li>)}
        {labels.length > MAX_CLASSES && <li class="quiet">and {labels.length - MAX_CLASSES} more classes</li>}
      </ul>
    </div>
  );
}
