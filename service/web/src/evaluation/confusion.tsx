// The confusion matrix: rows are true classes, columns are predicted classes.
import type { ConfusionMatrix as Matrix } from "../api/types.ts";
import { cell, counted, number } from "../format.ts";
import { Choice } from "../parts/choice.tsx";
import { confusions, confusionWords, shareWords } from "./words.ts";

const MODES = { counts: "Counts", shares: "Row %", errors: "Errors only" };
export type Mode = keyof typeof MODES;

export const MAX_LEVEL = 8; // in a table with more columns their names are written upwards
const ZEROS: Record<Mode, string> = { counts: "0", shares: "0 %", errors: "" };
const MAX_WORDED = 5; // pairs of classes that are described in a sentence
const FAINTEST = 12; // per cent of colour in a cell with a single error
const STRONGEST = 45;

export const modeOf = (text: string | null): Mode => (text && text in MODES ? (text as Mode) : "counts");

export function ModeChoice({ mode, onMode }: { mode: Mode; onMode: (mode: Mode) => void }) {
  return <Choice label="Cells of the confusion matrix" choices={MODES} value={mode} onValue={onMode} />;
}

interface Props {
  matrix: Matrix | null;
  mode: Mode;
  caption: string;
  of?: string; // the model, if there are several matrices
  weighted: boolean; // the counts are weights
  known?: number; // the number of classes that the model knows; others are never predicted
}

export function ConfusionMatrix({ matrix, mode, caption, of, weighted, known }: Props) {
  if (!matrix) return <p class="quiet">There are more than 64 classes, too many for a table. The scores of each class are below.</p>;
  const { labels, counts } = matrix;
  const classes = labels.map((_, i) => i);
  const predictable = classes.slice(0, known);
  const wrong = (actual: number, predicted: number) => (actual === predicted ? 0 : counts[actual][predicted]);
  const shown = mode === "errors"
    ? { rows: classes.filter((i) => predictable.some((k) => wrong(i, k))), columns: predictable.filter((k) => classes.some((i) => wrong(i, k))) }
    : { rows: classes, columns: predictable };
  if (!shown.rows.length) return <p>Every row is predicted right.</p>;
  const most = Math.max(...classes.flatMap((i) => predictable.map((k) => wrong(i, k))));
  return (
    <div class="scroll tall" role="region" aria-label={of ? `${caption}, ${of}` : caption} tabIndex={0}>
      <table class={shown.columns.length > MAX_LEVEL ? "confusion upwards" : "confusion"}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col"><span class="quiet">true / predicted</span></th>
            {shown.columns.map((k) => <th scope="col" title={cell(labels[k])}><span>{cell(labels[k])}</span></th>)}
            {mode !== "errors" && <th scope="col"><span class="quiet">{weighted ? "Weight" : "Rows"}</span></th>}
          </tr>
        </thead>
        <tbody>
          {shown.rows.map((i) => {
            const total = counts[i].reduce((sum, x) => sum + x, 0);
            return (
              <tr>
                <th scope="row" title={cell(labels[i])}>{cell(labels[i])}</th>
                {shown.columns.map((k) => <Cell {...{ matrix, total, most, mode, weighted }} actual={i} predicted={k} />)}
                {mode !== "errors" && <td class="total quiet">{number(total)}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps { matrix: Matrix; actual: number; predicted: number; total: number; most: number; mode: Mode; weighted: boolean }

/** Right predictions are coloured by their share of the row, errors by their share of the largest error. */
function Cell({ matrix, actual, predicted, total, most, mode, weighted }: CellProps) {
  const weight = matrix.counts[actual][predicted];
  const share = total ? weight / total : 0;
  if (actual === predicted) {
    const text = mode === "errors" ? "" : mode === "shares" ? (total ? shareWords(share) : "–") : number(weight);
    return <td class="hit" style={{ background: mode === "errors" ? undefined : tint(Math.round(40 * share)) }}>{text}</td>;
  }
  if (!weight) return <td class="miss quiet">{ZEROS[mode]}</td>;
  const words = confusionWords(matrix, { actual, predicted, weight, of: total }, weighted);
  return (
    <td class="miss some" title={words} style={{ background: tint(FAINTEST + Math.round((STRONGEST - FAINTEST) * Math.sqrt(weight / most))) }}>
      {mode === "shares" ? shareWords(share) : number(weight)}
    </td>
  );
}

const tint = (strength: number) => `color-mix(in srgb, var(--tint) ${strength}%, transparent)`;

/** The most frequent errors in sentences. */
export function LargestConfusions({ matrix, weighted }: { matrix: Matrix | null; weighted: boolean }) {
  const found = matrix ? confusions(matrix) : [];
  if (!matrix || !found.length) return null;
  const rest = found.slice(MAX_WORDED).reduce((sum, each) => sum + each.weight, 0);
  return (
    <ul class="confusions" aria-label="Most frequent errors">
      {found.slice(0, MAX_WORDED).map((each) => <li>{confusionWords(matrix, each, weighted)}</li>)}
      {rest > 0 && (
        <li class="quiet">
          {weighted ? `Errors of weight ${number(rest)}` : counted(rest, "more error")} in {counted(found.length - MAX_WORDED, "other pair")} of classes.
        </li>
      )}
    </ul>
  );
}
