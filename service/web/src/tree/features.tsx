// The features of a tree: the errors that each saves, and all its cuts on one axis over its distribution.
import { useMemo, useRef, useState } from "preact/hooks";
import type { ColumnInfo, Dataset, Tree, TreeNumberColumn } from "../api/types.ts";
import { cell, counted, exact, label, number, percent } from "../format.ts";
import { cutText, shortTexts } from "./cuts.ts";
import { spread } from "./layout.ts";
import { width as textWidth } from "./measure.ts";
import { questionWords } from "./rules.ts";
import { weighted } from "./shape.ts";
import { useWidth } from "./width.ts";

const FIRST_SHOWN = 30;
const COLUMN = 440; // pixels: the least width of a feature, as in the stylesheet
const GAP = 40;
const HEIGHT = 54; // of the distribution
const MAX_CATEGORIES = 12;
const MAX_PICKABLE = 40; // more cuts of a feature are too close to be chosen

interface Feature { column: number; saved: number; share: number; nodes: number[] }

/** Returns the features that splits use; models of an older version have no summary. */
function featuresOf(tree: Tree): Feature[] {
  const found = new Map<number, Feature>();
  tree.nodes.forEach(({ split, error }, i) => {
    if (!split) return;
    const entry = found.get(split.column) ?? { column: split.column, saved: 0, share: 0, nodes: [] };
    entry.saved += error - tree.nodes[split.left].error - tree.nodes[split.right].error;
    entry.nodes.push(i);
    found.set(split.column, entry);
  });
  for (const { column, errors_saved: saved, importance } of tree.summary?.feature_importances ?? []) {
    const entry = found.get(column);
    if (entry) Object.assign(entry, { saved, share: importance });
  }
  const features = [...found.values()];
  const total = features.reduce((sum, feature) => sum + feature.saved, 0);
  if (!tree.summary && total > 0) for (const feature of features) feature.share = feature.saved / total;
  return features.sort((a, b) => b.saved - a.saved || b.nodes.length - a.nodes.length);
}

interface Props { tree: Tree; dataset: Dataset | undefined; onNode: (index: number) => void }

export function Features({ tree, dataset, onNode }: Props) {
  const features = useMemo(() => featuresOf(tree), [tree]);
  const [all, setAll] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const room = useWidth(list);
  const columns = Math.max(1, Math.floor((room + GAP) / (COLUMN + GAP)));
  const axisWidth = (room - GAP * (columns - 1)) / columns - 8;
  const infos = useMemo(() => new Map((dataset?.columns ?? []).map((column) => [column.name, column])), [dataset]);
  const most = Math.max(...features.map((feature) => feature.saved), 1e-9);
  return (
    <div class="features" ref={list}>
      {!features.length && <p class="quiet">The tree is one leaf and uses no feature.</p>}
      <p class="quiet">
        {weighted(tree)
          ? "Weight saved: how much less weight of the training rows is wrong after the splits on the feature than before them."
          : "Errors saved: how many fewer training rows are wrong after the splits on the feature than before them."}
        {dataset && " The grey bars are the distribution in the whole dataset."} Each mark is a cut, higher if it splits more rows;
        where there are few, choose one to see its node.
      </p>
      <ol class="feature-list">
        {(all ? features : features.slice(0, FIRST_SHOWN)).map((feature) => {
          const column = tree.columns[feature.column];
          return (
            <li class="feature" key={feature.column}>
              <h3 title={column.name}>{column.name}</h3>
              <p class="saved">
                <span class="bar"><span class="fill" style={{ width: `${(100 * Math.max(0, feature.saved)) / most}%` }} /></span>
                <span class="figure">{savedWords(tree, feature.saved)} <span class="quiet">({percent(feature.share)}), {counted(feature.nodes.length, "split")}</span></span>
              </p>
              {column.kind === "number"
                ? <Axis tree={tree} feature={feature} column={column} info={infos.get(column.name)} width={axisWidth} onNode={onNode} />
                : <Splits tree={tree} feature={feature} info={infos.get(column.name)} onNode={onNode} />}
            </li>
          );
        })}
      </ol>
      {!all && features.length > FIRST_SHOWN && <button type="button" onClick={() => setAll(true)}>Show all {features.length} features</button>}
    </div>
  );
}

function savedWords(tree: Tree, saved: number): string {
  if (weighted(tree)) return `weight ${number(saved)} saved`;
  return `${number(saved)} ${saved === 1 ? "error" : "errors"} saved`;
}

/** All cuts of a column of numbers on one axis. */
function Axis(
  { tree, feature, column, info, width: room, onNode }:
  { tree: Tree; feature: Feature; column: TreeNumberColumn; info: ColumnInfo | undefined; width: number; onNode: (index: number) => void },
) {
  const cuts = feature.nodes.flatMap((node) => tree.nodes[node].split!.thresholds.map((value) => ({ node, value })));
  const values = [...new Set(cuts.map((cut) => cut.value))].sort((a, b) => a - b);
  const histogram = info?.histogram ?? undefined;
  const low = Math.min(column.minimum ?? 0, histogram?.edges[0] ?? Infinity, ...values);
  const high = Math.max(column.maximum ?? 1, histogram?.edges.at(-1) ?? -Infinity, ...values);
  const place = (value: number) => (high > low ? (room * (value - low)) / (high - low) : 0);
  const tallest = Math.max(...(histogram?.counts ?? []), 1);
  const largest = Math.max(...feature.nodes.map((node) => tree.nodes[node].rows));
  const tall = (node: number) => HEIGHT * Math.sqrt(tree.nodes[node].rows / largest);
  const pickable = cuts.length <= MAX_PICKABLE;
  const ends = shortTexts([low, high], high - low);
  const texts = values.map((value) => cutText(tree, feature.column, value));
  const widths = texts.map((text) => textWidth(text, 11));
  const named = widths.reduce((sum, x) => sum + x + 6, 0) <= room;
  const centres = named ? spread(values.map(place), widths, room) : [];
  const foot = HEIGHT + 22;
  return (
    <svg class="drawing axis" viewBox={`-4 0 ${room + 8} ${foot + 34}`} role="group" aria-label={`${counted(cuts.length, "cut")} of ${column.name} from ${ends.get(low)} to ${ends.get(high)}`}>
      {histogram?.counts.map((rows, i) => {
        const [x, to] = [place(histogram.edges[i]), place(histogram.edges[i + 1])];
        const up = rows ? Math.max(1, (HEIGHT * rows) / tallest) : 0;
        return <rect class="spread-bar" x={x} y={HEIGHT - up} width={Math.max(1, to - x - 0.5)} height={up} />;
      })}
      <path class="tick" d={`M0 ${HEIGHT}H${room}`} />
      {!pickable && <path class="cut-lines" d={cuts.map(({ node, value }) => `M${place(value).toFixed(1)} ${HEIGHT - tall(node)}V${HEIGHT + 8}`).join("")} />}
      {pickable && cuts.map(({ node, value }) => (
        <g
          class="cut-mark" role="button" tabindex={0} aria-label={`Cut at ${exact(value)}, ${counted(tree.nodes[node].rows, "row")}`}
          onClick={() => onNode(node)} onKeyDown={(event) => void (event.key === "Enter" && onNode(node))}
        >
          <title>{`${exact(value)}: ${questionWords(tree, tree.nodes[node])}, ${counted(tree.nodes[node].rows, "row")}`}</title>
          <rect class="cut-hit" x={place(value) - 4} y="0" width="8" height={HEIGHT + 12} />
          <rect
            class="cut-line" x={place(value) - 1} width="2" y={HEIGHT - tall(node)} height={tall(node) + 8}
          />
        </g>
      ))}
      {named && values.map((value, i) => <path class="tick" d={`M${place(value)} ${HEIGHT + 8}L${centres[i]} ${HEIGHT + 14}`} />)}
      {named && texts.map((text, i) => <text class="ink" x={centres[i]} y={HEIGHT + 25} font-size="11" text-anchor="middle">{text}</text>)}
      <text class="soft" x="0" y={foot + 22} font-size="11">{ends.get(low)}</text>
      {!named && <text class="soft" x={room / 2} y={HEIGHT + 25} font-size="11" text-anchor="middle">{`${values.length} different cuts`}</text>}
      <text class="soft" x={room} y={foot + 22} font-size="11" text-anchor="end">{ends.get(high)}</text>
    </svg>
  );
}

/** The splits of a column of categories or booleans: which values each sends left and right. */
function Splits({ tree, feature, info, onNode }: { tree: Tree; feature: Feature; info: ColumnInfo | undefined; onNode: (index: number) => void }) {
  const column = tree.columns[feature.column];
  const known = column.kind === "category" ? column.categories.map((entry) => ({ value: entry.value as unknown, name: label(entry) })) : [false, true].map((value) => ({ value: value as unknown, name: String(value) }));
  const rowsOf = (value: unknown) => info?.category_counts?.[info.categories?.findIndex((each) => each === value) ?? -1] ?? null;
  const listed = known.map((entry, k) => ({ ...entry, k, rows: rowsOf(entry.value) })).sort((a, b) => (b.rows ?? 0) - (a.rows ?? 0)).slice(0, MAX_CATEGORIES);
  const most = Math.max(1, ...listed.map((entry) => entry.rows ?? 0));
  const right = (node: number, k: number) => {
    const split = tree.nodes[node].split!;
    return column.kind === "category" ? split.right_categories.includes(k) : split.thresholds.length > 0 && k === 1;
  };
  const shown = feature.nodes.slice(0, 24);
  return (
    <div class="scroll" role="region" aria-label={`Splits of ${column.name}`} tabIndex={0}>
      <table class="value-splits">
        <thead class="unseen"><tr><th scope="col">Value</th><th scope="col">Rows</th>{shown.map((node) => <th scope="col">Node {node}</th>)}</tr></thead>
        <tbody>
          {listed.map(({ k, name, rows }) => (
            <tr key={k}>
              <th scope="row" title={name}>{cell(name)}</th>
              <td class="value-rows">{rows !== null && <span class="fill" style={{ width: `${(100 * rows) / most}%` }} title={counted(rows, "row")} />}</td>
              {shown.map((node) => (
                <td>
                  <button
                    type="button" class={`side-mark ${right(node, k) ? "side-right" : "side-left"}`} onClick={() => onNode(node)}
                    aria-label={`${name} goes ${right(node, k) ? "right" : "left"} at node ${node}`} title={questionWords(tree, tree.nodes[node])}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {known.length > listed.length && <p class="quiet">and {counted(known.length - listed.length, "rarer category", "rarer categories")}</p>}
    </div>
  );
}
