// ROC and precision-recall curves of a tree of two classes, with a threshold to choose.
import { useId } from "preact/hooks";
import { cell, number, orDash, percent } from "../format.ts";
import { Fact } from "../parts/fact.tsx";
import { Field, Select } from "../parts/field.tsx";
import {
  averagePrecision, type Counts, countsAt, type Curve, cutAt, type Point, type Positive, precisionPoint, precisionPoints, ratesOf, rocPoint, rocPoints,
  thresholdsOf,
} from "./operating.ts";
import { at, line, UnitPlot } from "./unit-plot.tsx";

const SHOWN_EXACTLY = 0.00005; // thresholds are shown in per cent with two decimals

type Label = string | number | boolean;

interface Props {
  curve: Curve;
  cart?: Counts; // of CART on the same rows
  labels: Label[];
  area: number | null | undefined; // under the ROC curve
  threshold: number | null; // null: the decision of the tree
  onThreshold: (threshold: number | null) => void;
  onPositive: (positive: Positive) => void;
}

export function Threshold({ curve, cart, labels, area, threshold, onThreshold, onPositive }: Props) {
  const cut = threshold === null ? curve.own : cutAt(curve, threshold);
  const name = cell(labels[curve.positive]);
  const counts = cut === curve.own ? curve.ownCounts : countsAt(curve, cut);
  const marks = (of: (counts: Counts) => Point): Marked => ({ here: of(counts), own: of(curve.ownCounts), cart: cart && of(cart) });
  const pickNearest = (points: Point[]) => (x: number, y: number) => {
    const distances = points.map((point) => (point[0] - x) ** 2 + (point[1] - y) ** 2);
    distances[0] += Number(curve.probabilities[0] >= 1); // no threshold leaves out a probability of 1
    const nearest = distances.indexOf(Math.min(...distances));
    onThreshold(nearest === curve.own ? null : curve.probabilities[nearest - 1] ?? 1);
  };
  const [roc, precision] = [rocPoints(curve), precisionPoints(curve)];
  const positives = curve.hits[curve.hits.length - 1];
  const share = positives / (positives + curve.alarms[curve.alarms.length - 1]);
  const mean = averagePrecision(curve);
  return (
    <>
      <div class="row threshold">
        <Field name="Class to find">
          <Select
            value={String(curve.positive)} choices={{ 0: cell(labels[0]), 1: cell(labels[1]) } as Record<string, string>}
            onValue={(value) => onPositive(Number(value) as Positive)}
          />
        </Field>
        <Slider curve={curve} cut={cut} threshold={threshold} onThreshold={onThreshold} />
      </div>
      <div class="curves">
        <Outcome counts={counts} threshold={threshold} own={cut === curve.own} name={name} />
        <UnitPlot
          title={`ROC curve${area == null ? "" : `, area ${percent(area)}`}`} across={`False positives among the others`} up={`Found rows of ${name}`} onPick={pickNearest(roc)}
          label={`ROC curve of ${name}.${area == null ? "" : ` The area under it is ${percent(area)}.`} The threshold above moves along it.`}
        >
          <path class="chance" d={line([[0, 0], [1, 1]])} />
          <path class="curve" d={line(roc)} />
          <Marks {...marks(rocPoint)} />
        </UnitPlot>
        <UnitPlot
          title={`Precision and recall${mean === null ? "" : `, average precision ${percent(mean)}`}`} across={`Recall: found rows of ${name}`} up="Precision" onPick={pickNearest(precision)}
          label={`Precision-recall curve of ${name}.${mean === null ? "" : ` The average precision is ${percent(mean)}.`}`}
        >
          <path class="chance" d={line([[0, share], [1, share]])} />
          <path class="curve" d={line(precision, true)} />
          <Marks {...marks(precisionPoint)} />
        </UnitPlot>
      </div>
      <ul class="legend">
        <li><span class="swatch here" />this threshold</li>
        <li><span class="swatch own" />the tree's own decision</li>
        {cart && <li><span class="swatch cart" />CART of the same depth</li>}
        <li><span class="swatch chance" />chance</li>
      </ul>
      <p class="help">
        Click a curve to choose a threshold. The API always predicts the class with the largest share. To use another threshold, compare the
        probability of {name} in its response with the threshold.
      </p>
    </>
  );
}

interface Marked { here: Point; own: Point; cart?: Point }

function Marks({ here, own, cart }: Marked) {
  const diamond = ([x, y]: Point) => `M${x} ${y - 8}L${x + 8} ${y}L${x} ${y + 8}L${x - 8} ${y}Z`;
  const square = ([x, y]: Point) => `M${x - 4} ${y - 4}h8v8h-8Z`;
  const [x, y] = at(...here);
  return (
    <>
      {cart && <path class="cart" d={square(at(...cart))}><title>CART of the same depth</title></path>}
      <path class="own" d={diamond(at(...own))}><title>The tree's own decision</title></path>
      <circle class="here" cx={x} cy={y} r={4.5}><title>This threshold</title></circle>
    </>
  );
}

function Slider({ curve, cut, threshold, onThreshold }: { curve: Curve; cut: number; threshold: number | null; onThreshold: Props["onThreshold"] }) {
  const id = useId();
  const thresholds = thresholdsOf(curve);
  const index = thresholds.findIndex((each) => cutAt(curve, each) === cut);
  const shown = threshold ?? 0.5;
  return (
    <>
      <div class="field slider">
        <label for={id}>Threshold</label>
        <div class="control">
          <input
            id={id} type="range" min={0} max={thresholds.length - 1} step={1} value={index} aria-valuetext={threshold === null ? "The tree's own decision" : percent(threshold)}
            onInput={(event) => onThreshold(thresholds[Number(event.currentTarget.value)])}
          />
        </div>
      </div>
      <Field name="Threshold in %">
        <input
          type="number" min={0} max={100} step="any" value={Number((100 * shown).toFixed(2))}
          onChange={(event) => {
            const typed = Math.min(1, Math.max(0, Number(event.currentTarget.value) / 100));
            onThreshold(curve.probabilities.find((each) => Math.abs(each - typed) <= SHOWN_EXACTLY) ?? typed);
          }}
        />
      </Field>
      <button type="button" disabled={threshold === null} onClick={() => onThreshold(null)}>The tree's own decision</button>
    </>
  );
}

/** Says what a threshold means for the rows. */
function Outcome({ counts, threshold, own, name }: { counts: Counts; threshold: number | null; own: boolean; name: string }) {
  const { precision, recall, alarmRate } = ratesOf(counts);
  const { hits, misses, alarms, rejections } = counts;
  const rule = threshold === null
    ? `The tree's own decision: a row is predicted as ${name} if that is the larger share of its leaf.`
    : `A row is predicted as ${name} if its probability of ${name} is at least ${percent(threshold)}.${own ? " These are the predictions of the tree itself." : ""}`;
  return (
    <div class="outcome" aria-live="polite">
      <p class="threshold-words">
        {rule} Of {number(hits + misses)} rows of {name}, {number(hits)} {hits === 1 ? "is" : "are"} found and {number(misses)} {misses === 1 ? "is" : "are"} missed.
        Of {number(hits + alarms)} rows that are predicted as {name}, {number(alarms)} {alarms === 1 ? "is" : "are"} not: {alarms === 1 ? "a false positive" : "false positives"}.
      </p>
      <dl class="facts">
        <Fact name="Precision" title={`The share of the rows predicted as ${name} that are ${name}`}>{orDash(precision, percent)}</Fact>
        <Fact name="Recall" title={`The share of the rows of ${name} that are found`}>{orDash(recall, percent)}</Fact>
        <Fact name="False positives" title={`Rows that are predicted as ${name} but are not`}>{number(alarms)} of {number(alarms + rejections)}</Fact>
        <Fact name="False positive rate" title={`The share of the other rows that are predicted as ${name}`}>{orDash(alarmRate, percent)}</Fact>
        <Fact name="Missed" title={`Rows of ${name} that are predicted as the other class`}>{number(misses)} of {number(hits + misses)}</Fact>
      </dl>
    </div>
  );
}
