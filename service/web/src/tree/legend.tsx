// The legend of the colours, and bars in the colours of the classes.
import type { ComponentChildren } from "preact";
import type { Tree } from "../api/types.ts";
import { count, label, number, percent } from "../format.ts";
import { classStyle } from "./colours.ts";

const MAX_CLASSES = 12; // more are folded

interface Props {
  tree: Tree;
  sides?: boolean; // whether the drawing has the colours of the sides
  bars?: boolean; // whether it has the rows of its nodes
  unnamed?: boolean; // whether the cells of missing values have no names
  changed?: boolean;
}

export function Legend({ tree, sides, bars, unnamed, changed }: Props) {
  return (
    <div class="legends">
      {sides && (
        <ul class="legend" aria-label="Colours">
          <li><span class="swatch side-left" />goes left</li>
          <li><span class="swatch side-right" />goes right</li>
          {unnamed && <li class="quiet">cell apart: missing values</li>}
          {bars && <li class="quiet">bars: the node's own training rows by class</li>}
          {changed && <li><span class="swatch framed" />changed since the previous tree</li>}
        </ul>
      )}
      <ClassLegend tree={tree} />
    </div>
  );
}

/** Names all classes that occur in the tree. */
function ClassLegend({ tree }: { tree: Tree }) {
  const found = tree.classes.labels.flatMap((entry, k) => (tree.nodes[0].counts[k] > 0 ? [{ k, name: label(entry) }] : []));
  const list = (
    <ul class="legend" aria-label="Colours of the classes">
      {found.length <= MAX_CLASSES && <li class="quiet">classes:</li>}
      {found.map(({ k, name }) => <li key={k} title={name}><span class={`swatch ${classStyle(k)}`} /><span class="cut-off">{name}</span></li>)}
    </ul>
  );
  if (found.length <= MAX_CLASSES) return list;
  return <details class="class-legend"><summary>Colours of the {count(found.length)} classes</summary>{list}</details>;
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
          <span class="name" title={bar.name}>{bar.name}</span>
          <span class="bar"><span class={`fill ${classStyle(bar.index)}`} style={{ width: `${(100 * bar.weight) / longest}%` }} /></span>
          <span class="figure">{figure?.(bar.weight) ?? <>{number(bar.weight)} <span class="quiet">{percent(bar.weight / total)}</span></>}</span>
        </li>
      ))}
    </ul>
  );
}
