// The scores and leaves of one combination by penalty, for the mean over the folds or one fold.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { Paths, Sweep, Trial } from "../api/types.ts";
import { number } from "../format.ts";
import { Select } from "../parts/field.tsx";
import { Failure } from "../parts/states.tsx";
import { useResource } from "../state/resource.ts";
import { BottomAxis, type Frame, LeftAxis, linear, logarithmic, logTicks, roundTicks, type Scale, useWidth } from "./axes.tsx";
import { chosenWords, leafWords, METRICS, scoreWords, settingWords, trialKey } from "./words.ts";

const TOP: [number, number] = [26, 190];
const BELOW: [number, number] = [226, 320];
const HEIGHT = 362;

interface Step { from: number; to: number; score: number | null; leaves: number } // to: Infinity for all larger penalties

interface Props {
  sweep: Sweep;
  trials: Trial[];
  round: number; // changes when there may be new results
  chosen: Trial | null;
  final: boolean; // whether the choice is made
  shown: Trial | undefined;
  onShow: (trial: Trial) => void;
}

export function PathChart({ sweep, trials, round, chosen, final, shown, onShow }: Props) {
  const settings = useMemo(() => new Map(trials.filter((trial) => trial.penalty_range).map((trial) => [trial.setting, trial.parameters])), [trials]);
  const [wanted, setWanted] = useState<number | null>(null);
  const [fold, setFold] = useState("mean");
  const setting = wanted ?? shown?.setting ?? chosen?.setting ?? [...settings.keys()][0];
  const paths = useResource(`${sweep.id} ${setting}`, async (signal) =>
    setting === undefined ? null : get<Paths>(`/v1/sweeps/${sweep.id}/paths?setting=${setting}`, signal));
  useEffect(() => {
    if (round > 1) paths.reload();
  }, [round]);
  useEffect(() => setWanted(null), [shown && trialKey(shown)]);
  const mine = useMemo(() => trials.filter((trial) => trial.setting === setting && trial.penalty_range), [trials, setting]);

  if (setting === undefined) return <p class="quiet">The path appears here as soon as all folds of a combination are done.</p>;
  const folds = paths.value?.settings[0]?.folds ?? [];
  const one = folds.find((each) => String(each.fold) === fold);
  const steps: Step[] = one
    ? one.segments.map((segment) => ({ from: segment.penalty_from ?? 0, to: segment.penalty_to ?? Infinity, score: segment.score, leaves: segment.leaves }))
    : mine.map((trial) => ({ from: trial.penalty_range!.low, to: trial.penalty_range!.high ?? Infinity, score: trial.mean ?? null, leaves: trial.leaves ?? 0 }));
  const choices = Object.fromEntries([...settings].sort(([a], [b]) => a - b).map(([each, parameters]) => [String(each), settingWords(parameters)]));
  const parts = { mean: "Mean over the folds", ...Object.fromEntries(folds.map((each) => [String(each.fold), `Fold ${each.fold + 1}`])) };
  const at = (penalty: number) => mine.find((trial) => penalty >= trial.penalty_range!.low && penalty < (trial.penalty_range!.high ?? Infinity));
  return (
    <>
      <div class="row">
        <label>Combination <Select aria-label="Combination" value={String(setting)} choices={choices} onValue={(value) => setWanted(Number(value))} /></label>
        <label>Fold <Select aria-label="Fold of the path" value={one ? fold : "mean"} choices={parts} onValue={setFold} /></label>
      </div>
      {paths.error !== undefined && <Failure error={paths.error} />}
      <Steps
        steps={steps} metric={sweep.metric} final={final} chosen={chosen?.setting === setting ? chosen.penalty ?? null : null}
        shown={shown?.setting === setting ? shown.penalty ?? null : null} label={`${choices[setting]}, ${parts[one ? fold as "mean" : "mean"]}`}
        onPick={(penalty) => {
          const trial = at(penalty);
          if (trial) onShow(trial);
        }}
      />
    </>
  );
}

interface StepsProps { steps: Step[]; metric: string; final: boolean; chosen: number | null; shown: number | null; label: string; onPick: (penalty: number) => void }

function Steps({ steps, metric, final, chosen, shown, label, onPick }: StepsProps) {
  const [host, width] = useWidth();
  const [here, setHere] = useState<number | null>(null);
  const frame = { left: 56, right: Math.max(120, width - 14) };
  const ends = steps.flatMap((step) => [step.from, step.to]).filter((end) => end > 0 && end < Infinity);
  const [low, high] = ends.length ? [Math.min(...ends) / 2, Math.max(...ends) * 2] : [0.5, 2];
  const x = logarithmic(low, high, frame.left, frame.right);
  const inside = (penalty: number) => x(Math.min(high, Math.max(low, penalty)));
  const scores = steps.map((step) => step.score).filter((score) => score !== null);
  const [least, most] = [Math.min(...scores), Math.max(...scores)];
  const room = 0.06 * (most - least || 0.1);
  const score = linear(least - room, most + room, TOP[1], TOP[0]);
  const leaves = linear(0, Math.max(1, ...steps.map((step) => step.leaves)) * 1.08, BELOW[1], BELOW[0]);
  const current = steps.findIndex((step) => shown !== null && shown >= step.from && shown < step.to);
  const read = steps[here ?? current] as Step | undefined;

  const stepAt = (event: MouseEvent) => {
    const left = event.clientX - (event.currentTarget as Element).getBoundingClientRect().left;
    return steps.findIndex((step) => left >= inside(step.from) && left <= inside(step.to));
  };
  const pick = (i: number) => {
    const step = steps[i];
    if (step) onPick(step.from === 0 ? step.to / 2 : step.to === Infinity ? 2 * step.from : Math.sqrt(step.from * step.to));
  };
  const keys = (event: KeyboardEvent) => {
    const from = here ?? Math.max(0, current);
    const next = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: steps.length - 1 }[event.key];
    if (next !== undefined) setHere(Math.min(steps.length - 1, Math.max(0, next)));
    else if (event.key === "Enter" && here !== null) pick(here);
    else return;
    event.preventDefault();
  };
  const line = (value: (step: Step) => number | null, y: Scale) => steps.map((step, i) => {
    const at = value(step);
    return at === null ? "" : `${i ? "L" : "M"}${inside(step.from).toFixed(1)} ${y(at).toFixed(1)}H${inside(step.to).toFixed(1)}`;
  }).join("");
  const part = (top: [number, number]): Frame => ({ ...frame, top: top[0], bottom: top[1] });
  return (
    <figure class="chart sweep-chart">
      <div
        ref={host} class="steps-plot" tabIndex={0} role="img" onKeyDown={keys} onBlur={() => setHere(null)}
        aria-label={`Score and leaves by penalty: ${label}. ${steps.length} trees. The arrow keys move between them, and Enter shows the trial.`}
        onMouseMove={(event) => setHere(Math.max(0, stepAt(event)))} onMouseLeave={() => setHere(null)} onClick={(event) => pick(stepAt(event))}
      >
        {width > 0 && steps.length > 0 && (
          <svg width={width} height={HEIGHT} aria-hidden="true">
            <LeftAxis frame={part(TOP)} ticks={roundTicks(least - room, most + room, 4)} scale={score} format={(value) => scoreWords(metric, value)} name={METRICS[metric].name} />
            <LeftAxis frame={part(BELOW)} ticks={roundTicks(0, Math.max(...steps.map((step) => step.leaves)), 3)} scale={leaves} format={number} name="Leaves" />
            <BottomAxis frame={{ ...frame, top: TOP[0], bottom: BELOW[1] }} ticks={logTicks(low, high)} scale={x} format={number} name="Penalty per split, for all rows" />
            {read && <rect class="within" x={inside(read.from)} width={Math.max(2, inside(read.to) - inside(read.from))} y={TOP[0]} height={BELOW[1] - TOP[0]} />}
            <path class="step-line" d={line((step) => step.score, score)} />
            <path class="step-line" d={line((step) => step.leaves, leaves)} />
            {chosen !== null && <path class="chosen-line" d={`M${inside(chosen)} ${TOP[0]}V${BELOW[1]}`} />}
          </svg>
        )}
      </div>
      <figcaption class="row">
        {chosen !== null && <span class="key chosen-line">{chosenWords(final)}: penalty {number(chosen)}</span>}
      </figcaption>
      <p class="readout" role="status">
        {read && `Penalty ${number(read.from)} ${read.to === Infinity ? "and more" : `to ${number(read.to)}`}: ${read.score === null ? "no score" : scoreWords(metric, read.score)}, ${leafWords(read.leaves)}`}
      </p>
    </figure>
  );
}
