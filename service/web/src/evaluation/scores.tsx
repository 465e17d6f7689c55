// Everything about the scores of a tree on one set of rows.
import { useMemo, useState } from "preact/hooks";
import type { ConfusionMatrix as Matrix, ScoresInput } from "../api/types.ts";
import { percent } from "../format.ts";
import { accuracyWords, isWeighted } from "../quality/sentences.ts";
import { keepInLink, place } from "../router.ts";
import { Calibration } from "./calibration.tsx";
import { classScores, ClassTable } from "./classes.tsx";
import { ConfusionMatrix, LargestConfusions, MAX_LEVEL, ModeChoice, modeOf } from "./confusion.tsx";
import { type Beside, Figures } from "./figures.tsx";
import { countsAt, countsIn, curveOf, cutAt, matrixOf, type Positive } from "./operating.ts";
import { Threshold } from "./threshold.tsx";

interface Props {
  scores: ScoresInput;
  rows: string; // such as "Held-back rows"
  name: string; // for saved files
  classes: number; // that the model knows; others are in scored files only
  column?: string; // the name of the column of these scores
  beside?: Beside[];
  cart?: ScoresInput | null; // on the same rows
}

export function ScoreView({ scores, rows, name, classes, column = "This tree", beside = [], cart }: Props) {
  const [mode, setMode] = useState(() => modeOf(place.value.query.get("cells")));
  const [positive, setPositive] = useState<Positive>(() => (place.value.query.get("positive") === "0" ? 0 : 1));
  const [threshold, setThreshold] = useState(() => thresholdIn(place.value.query.get("threshold")));
  const curve = useMemo(() => curveOf(scores, positive), [scores, positive]);
  const cartCounts = cart?.confusion_matrix ? countsIn(cart.confusion_matrix.counts, positive) : undefined;
  const labels = scores.per_class.slice(0, classes).map((entry) => entry.label);
  const cut = curve && threshold !== null ? cutAt(curve, threshold) : undefined;
  const moved: Matrix | null = curve && cut !== undefined && cut !== curve.own
    ? { labels, counts: matrixOf(countsAt(curve, cut), positive) } : null;
  const matrix = moved ?? scores.confusion_matrix;
  const choose = (value: number | null) => {
    setThreshold(value);
    keepInLink({ threshold: value === null ? null : String(value) });
  };
  const weighted = isWeighted(scores);
  const here = moved ? `${rows}, at a threshold of ${percent(threshold!)}` : rows;
  return (
    <div class="evaluation">
      <section class="panel" aria-label="Scores">
        <h2>Scores</h2>
        <Figures scores={scores} name={column} beside={beside} />
        {accuracyWords(scores).includes("±") && <p class="help">The figure after ± is half the width of the 95 % interval of the accuracy on new rows like these.</p>}
        {weighted && <p class="help">The rows have weights: every count below is a sum of weights.</p>}
      </section>
      <section class={labels.length > MAX_LEVEL ? "panel wide" : "panel"} aria-label="Confusion matrix">
        <div class="row">
          <h2>Confusion matrix</h2>
          {matrix && (
            <span class="push"><ModeChoice mode={mode} onMode={(next) => {
              setMode(next);
              keepInLink({ cells: next === "counts" ? null : next });
            }} /></span>
          )}
        </div>
        <ConfusionMatrix matrix={matrix} mode={mode} caption={here} weighted={weighted} known={classes} />
        <LargestConfusions matrix={matrix} weighted={weighted} />
      </section>
      {classes === 2 && (
        <section class="panel wide" aria-label="Threshold">
          <h2>Threshold</h2>
          {curve
            ? (
              <Threshold
                curve={curve} cart={cartCounts} labels={labels} area={scores.roc_auc} threshold={threshold} onThreshold={choose}
                onPositive={(next) => {
                  setPositive(next);
                  choose(null);
                  keepInLink({ positive: next === 1 ? null : "0" });
                }}
              />
            )
            : <p class="quiet">These scores were computed by an older version, which kept no operating points. Score a file to see the curves, or train the tree again.</p>}
        </section>
      )}
      <section class="panel" aria-label="Calibration">
        <h2>Calibration</h2>
        <Calibration scores={scores} name={name} />
      </section>
      <section class="panel" aria-label="Classes">
        <h2>Classes{moved && ` at a threshold of ${percent(threshold!)}`}</h2>
        <ClassTable classes={moved ? classScores(moved) : scores.per_class} name={name} />
      </section>
    </div>
  );
}

function thresholdIn(text: string | null): number | null {
  const value = text === null ? NaN : Number(text);
  return value >= 0 && value <= 1 ? value : null;
}
