// With what the form opens: defaults, a copy of a job or a sweep, and presets of the link.
import type { Job, Sweep } from "../api/types.ts";
import { proposedName } from "./names.ts";
import { OWN, presets, some, TUNE, TUNED, type TextKey, type Values, valuesOfJob, valuesOfSweep } from "./values.ts";

export type Mode = "tune" | "own";

const MODES: Record<Mode, { title: string; about: string }> = {
  tune: {
    title: "Find the best tree for me",
    about: "Tries several depths, numbers of change points and penalties, scores each on rows that its tree has not seen, and makes a model of the best.",
  },
  own: {
    title: "Set the parameters myself",
    about: "Searches for the best tree with parameters that you give, and proves how good it is.",
  },
};

export function ModeChoice({ mode, onMode }: { mode: Mode; onMode: (mode: Mode) => void }) {
  return (
    <fieldset class="modes">
      <legend class="unseen">What to do</legend>
      {(Object.keys(MODES) as Mode[]).map((each) => (
        <div class={each === mode ? "mode chosen" : "mode"}>
          <input type="radio" name="mode" id={`mode-${each}`} aria-describedby={`about-${each}`} checked={each === mode} onChange={() => onMode(each)} />
          <div><label for={`mode-${each}`}>{MODES[each].title}</label><p class="quiet" id={`about-${each}`}>{MODES[each].about}</p></div>
        </div>
      ))}
    </fieldset>
  );
}

export interface Start {
  dataset: string;
  mode: Mode;
  values: Record<Mode, Values>;
  name: string | null; // a name that the user gave to what is copied
  preset: Partial<Record<TextKey, string>>;
}

const ONLY_SWEEPS: TextKey[] = ["metric", "select", "folds", "fold_column", "total_time", "held_back"];

export function startOf(query: URLSearchParams, origin: Job | Sweep | null, first: string): Start {
  const preset = presets(query);
  const copied = origin === null ? null : "n_folds" in origin ? valuesOfSweep(origin) : { tune: false, values: valuesOfJob(origin) };
  const own = { ...(copied && !copied.tune ? copied.values : OWN), ...preset };
  // It tries all penalties, so that a preset of what it does not show would be a contradiction.
  const shownPreset = Object.fromEntries(Object.entries(preset).filter(([key]) => TUNED.includes(key as TextKey)));
  const tune = { ...(copied?.tune ? copied.values : copied ? { ...TUNE, ...shared(copied.values) } : TUNE), ...shownPreset };
  const isOwn = copied ? !copied.tune : Object.keys(preset).some((key) => !ONLY_SWEEPS.includes(key as TextKey));
  // A name that the form proposed is proposed again, with the new parameters.
  const named = origin?.name && copied && !origin.name.includes(proposedName("", copied.values, copied.tune)) ? origin.name : null;
  return {
    dataset: query.get("dataset") ?? origin?.dataset_id ?? first, mode: query.get("tune") === "1" || !isOwn ? "tune" : "own",
    values: { tune, own }, name: named, preset,
  };
}

/** What "Find the best tree for me" takes over from a job: its data, held-back rows and weights, but not the size of its tree. */
function shared(values: Values): Partial<Values> {
  const { min_samples_leaf, class_weight, held_back, n_threads, kept } = values;
  return { min_samples_leaf, class_weight, held_back, n_threads, kept: kept && some({ of: kept.of, parameters: {}, rest: {}, seed: kept.seed }) };
}
