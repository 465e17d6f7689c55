// The tables of a sweep: the best trials, and all of them.
import { useMemo, useState } from "preact/hooks";
import type { Leaderboard, Sweep, Trial } from "../api/types.ts";
import { number, orDash, seconds } from "../format.ts";
import { parameterName, valueText } from "../parameters.ts";
import { Field } from "../parts/field.tsx";
import { type Column, DataTable } from "../parts/table.tsx";
import { title } from "../words.ts";
import { chosenWords, errorWords, largerIsBetter, meanCount, METRICS, scoreRange, scoreWords, settingWords, TRIAL_STATES, trialKey, trialName } from "./words.ts";

interface Props { sweep: Sweep; chosen: Trial | null; final: boolean; shown: Trial | undefined; onShow: (trial: Trial) => void }

function useNames({ chosen, final, shown, onShow }: Props) {
  const chosenKey = chosen && trialKey(chosen);
  const shownKey = shown && trialKey(shown);
  const rowClass = (trial: Trial) => [trialKey(trial) === chosenKey && "strong", trialKey(trial) === shownKey && "changed"].filter(Boolean).join(" ") || undefined;
  const name = (trial: Trial, text: string) =>
    trial.state === "SUCCEEDED" ? <button type="button" class="link" onClick={() => onShow(trial)}>{text}</button> : text;
  const badge = (trial: Trial) => trialKey(trial) === chosenKey && <> <span class={`badge ${final ? "good" : "rest"}`}>{chosenWords(final)}</span></>;
  return { rowClass, name, badge };
}

const score = (metric: string): Column<Trial> => ({
  id: "mean", name: METRICS[metric].name, right: true, descending: largerIsBetter(metric), value: (trial) => trial.mean,
  cell: (trial) => (trial.mean == null ? "" : scoreRange(metric, trial.mean, trial.standard_error ?? null)),
});

const leaves: Column<Trial> = { id: "leaves", name: "Leaves", right: true, value: (trial) => trial.leaves, cell: (trial) => (trial.leaves == null ? "" : meanCount(trial.leaves)) };

/** The best complete trials, by rank. */
export function BestTrials({ board, ...props }: { board: Leaderboard | undefined } & Props) {
  const { rowClass, name, badge } = useNames(props);
  const { metric } = props.sweep;
  const columns: Column<Trial>[] = [
    { id: "rank", name: "Rank", value: (trial) => trial.rank },
    {
      id: "parameters", name: "Parameters", value: (trial) => settingWords(trial.parameters, trial.penalty),
      cell: (trial) => <>{name(trial, settingWords(trial.parameters, trial.penalty))}{badge(trial)}</>,
    },
    score(metric), leaves,
  ];
  if (!board?.items.length) return <p class="quiet">The best trials appear here as soon as all folds of a combination are done.</p>;
  return (
    <div class="leaderboard">
      <DataTable label="Leaderboard" columns={columns} rows={board.items} id={trialKey} order={{ by: "rank", descending: false }} rowClass={rowClass} />
    </div>
  );
}

/** A column for each parameter that varies. */
function parameterColumns(trials: Trial[]): Column<Trial>[] {
  const keys = new Set(trials.flatMap((trial) => Object.keys(trial.parameters)));
  const columns = [...keys].map((key): Column<Trial> => ({
    id: key, name: parameterName(key), right: trials.some((trial) => typeof trial.parameters[key] === "number"),
    value: ({ parameters }) => (typeof parameters[key] === "number" ? parameters[key] : valueText(parameters[key])),
    cell: (trial) => valueText(trial.parameters[key]),
  }));
  if (trials.some((trial) => trial.penalty_range)) {
    columns.push({ id: "penalty", name: parameterName("split_penalty"), right: true, value: (trial) => trial.penalty, cell: (trial) => orDash(trial.penalty, number) });
  }
  return columns;
}

/** What was found. */
function resultColumns(metric: string): Column<Trial>[] {
  const figure = (id: string, name: string, value: (trial: Trial) => number | null | undefined, format: (value: number) => string, descending = false): Column<Trial> => ({
    id, name, right: true, descending, value, cell: (trial) => {
      const found = value(trial);
      return found == null ? "" : format(found);
    },
  });
  return [
    figure("rank", "Rank", (trial) => trial.rank, String),
    score(metric),
    figure("error", "Standard error", (trial) => trial.standard_error, (value) => errorWords(metric, value)),
    figure("train", "On training rows", (trial) => trial.train_mean, (value) => scoreWords(metric, value), largerIsBetter(metric)),
    leaves,
    figure("changepoints", "Further cuts", (trial) => trial.changepoints, meanCount),
    figure("proven", "Folds proven", (trial) => trial.proven_folds, String, true),
    figure("seconds", "Search time", (trial) => trial.seconds, seconds, true),
  ];
}

/** All trials, with filters. */
export function AllTrials({ trials, total, ...props }: { trials: Trial[]; total: number } & Props) {
  const [filter, setFilter] = useState("");
  const [state, setState] = useState("");
  const { rowClass, name, badge } = useNames(props);
  const { metric } = props.sweep;
  const rows = useMemo(() => (state ? trials.filter((trial) => trial.state === state) : trials), [trials, state]);
  const present = useMemo(() => new Set<string>(trials.map((trial) => trial.state)), [trials]);
  const columns = useMemo((): Column<Trial>[] => [
    { id: "number", name: "Trial", value: (trial) => trial.number ?? `setting ${trial.setting}`, cell: (trial) => <>{name(trial, trialName(trial))}{badge(trial)}</> },
    { id: "state", name: "State", value: (trial) => TRIAL_STATES[trial.state], cell: (trial) => `${TRIAL_STATES[trial.state]}${trial.reason ? `: ${trial.reason}` : ""}` },
    ...parameterColumns(trials), ...resultColumns(metric),
  ], [trials, metric, props.final, props.chosen && trialKey(props.chosen)]);
  return (
    <>
      <div class="fields narrow">
        <Field name="Filter"><input type="search" value={filter} placeholder="such as 4 complete" onInput={(event) => setFilter(event.currentTarget.value)} /></Field>
        <Field name="State of trials">
          <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
            <option value="">All</option>
            {Object.entries(TRIAL_STATES).filter(([each]) => present.has(each)).map(([each, words]) => <option value={each}>{words}</option>)}
          </select>
        </Field>
      </div>
      <div class="all-trials">
        <DataTable
          label="All trials" columns={columns} rows={rows} id={trialKey} filter={filter} rowClass={rowClass} saveAs={`${title(props.sweep)} trials`}
        />
      </div>
      {total > trials.length && <p class="quiet">The first {number(trials.length)} of {number(total)} trials are shown.</p>}
    </>
  );
}
