// The legend of the colours, and bars in the colours of the classes.
import type { ComponentChildren } from "preact";
import type { Tree } from "../api/types.ts";
import { label, number, percent } from "../format.ts";
import { classStyle } from "./boxes.ts";

const MAX_CLASSES = 12;

export function Legend({ tree, distribution, changed }: { tree: Tree; distribution: boolean; changed: boolean }) {
  const labels = tree.classes.labels;
  return (
    <div class="legends">
      <ul class="legend" aria-label="Colours">
        <li><span class="swatch side-left" />goes left</li>
        <li><span class="swatch side-right" />goes right</li>
        {distribution && <li class="quiet">bars: distribution in the whole dataset</li>}
        {changed && <li><span class="swatch framed" />changed since the previous tree</li>}
      </ul>
      <ul class="legend" aria-label="Colours of the classes">
        <li class="quiet">classes:</li>
        {labels.slice(0, MAX_CLASSES).map((entry, k) => <li><span class={`swatch ${classStyle(k)}`} />{label(entry)}</li>)}
        {labels.length > MAX_CLASSES && <li class="quiet">and {labels.length - MAX_CLASSES} more classes</li>}
      </ul>
    </div>
  );
}

interface Bar { index: number; name: string; weight: number }

/** Shows the weights of the first `most` classes. By default the longest bar is the heaviest class. */
export function ClassBars(
  { bars, most, full, figure, label: name }:
  { bars: Bar[]; most: number; full?: number; figure?: (weight: number) => ComponentChildren; label?: string },
) {
  const weights = bars.map((bar) => bar.weight);
  const total = weights.reduce((sum, x) => sum + x, 0);
  const longest = full ?? Math.max(...weights);
  return (
    <ul class="class-bars" aria-label={name}>
      {bars.slice(0, most).map((bar) => (
        <li>
          <span class="name">{bar.name}</span>
          <span class="bar"><span class={`fill ${classStyle(bar.index)}`} style={{ width: `${(100 * bar.weight) / longest}%` }} /></span>
          <span class="figure">{figure?.(bar.weight) ?? <>{number(bar.weight)} <span class="quiet">{percent(bar.weight / total)}</span></>}</span>
        </li>
      ))}
    </ul>
  );
}
