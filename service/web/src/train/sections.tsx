// The two forms: "Find the best tree for me" and "Set the parameters myself".
import type { Dataset, Job } from "../api/types.ts";
import { lasting } from "../format.ts";
import { METRICS, SELECTS } from "../sweeps/words.ts";
import { title } from "../words.ts";
import { Check, ChoiceInput, type Form, NumberInput, WordInput } from "./fields.tsx";
import { about, CHOICES, FOLDS, HELD_BACK, MAIN, MORE, type NumberKey, NUMBERS, TOTAL_TIME, TRIAL_LIMITS } from "./parameters.ts";
import { complaintAbout } from "./request.ts";
import { type TextKey, trialSeconds } from "./values.ts";

const field = (key: NumberKey) => NUMBERS.find((each) => each.key === key)!;

const TIMES: Record<string, string> = { 1: "1 minute", 5: "5 minutes", 20: "20 minutes", 60: "1 hour", "": "as long as it takes" };
const HELD_FOR_SWEEP = "Share of the rows that no trial sees. Only the chosen tree is scored on them, once, so that its score is not flattered by the choice.";

/** What a field may say about the dataset. */
interface Data { dataset: Dataset | undefined }

function Judged({ form, dataset }: { form: Form } & Data) {
  const metrics = dataset && dataset.classes.length !== 2 && form.values.metric !== "roc_auc"
    ? Object.fromEntries(Object.entries(METRICS).filter(([name]) => name !== "roc_auc")) : METRICS;
  const { metric, select } = form.values;
  const names = (meanings: typeof METRICS) => Object.fromEntries(Object.entries(meanings).map(([value, { name }]) => [value, name]));
  return (
    <>
      <WordInput name="Judge trees by" at="metric" words={names(metrics)} form={form} help={METRICS[metric].about} />
      <WordInput name="Take" at="select" words={names(SELECTS)} form={form} help={SELECTS[select].about} />
    </>
  );
}

function Divided({ form, dataset }: { form: Form } & Data) {
  const columns = dataset?.columns.filter((column) => column.role === "feature").map((column) => column.name) ?? [];
  const current = form.values.fold_column;
  const words = { "": "Drawn at random", ...Object.fromEntries([...(current ? [current] : []), ...columns].map((name) => [name, `The values of ${name}`])) };
  return (
    <>
      {!current && <NumberInput field={FOLDS} form={form} />}
      <WordInput
        name="Where folds come from" at="fold_column" words={words} form={form}
        help="For groups or time: every value of a column is held out once. The column is then not a feature."
      />
    </>
  );
}

export function TuneSection({ form, dataset, open }: { form: Form; open: boolean } & Data) {
  const { values } = form;
  const times = values.total_time in TIMES ? TIMES : { [values.total_time]: `${values.total_time} minutes`, ...TIMES };
  return (
    <>
      <div class="fields">
        <WordInput name="Time" at="total_time" words={times} form={form} help="How long parameters are tried. You can finish earlier, or give more time later." />
        <Judged form={form} dataset={dataset} />
        <NumberInput field={HELD_BACK} form={form} help={HELD_FOR_SWEEP} />
      </div>
      <details open={open}>
        <summary>What is tried</summary>
        <div class="fields">
          <NumberInput field={field("max_depth")} form={form} label="Depths" help="Each of these depths is tried, with every penalty per split." />
          <NumberInput field={field("max_changepoints")} form={form} help="Each of these maximum numbers of change points per split is tried. With 1, every split is an ordinary threshold." />
          <Divided form={form} dataset={dataset} />
          <NumberInput field={field("min_samples_leaf")} form={form} />
          <ChoiceInput field={CHOICES.class_weight} form={form} />
          <NumberInput
            field={field("time_limit")} form={form} label="Time limit of a job" placeholder={String(trialSeconds(values))}
            help={`Seconds of search for one combination on one fold. If it is reached, the tree counts and is marked as not proven. Empty means ${lasting(trialSeconds(values))}.`}
          />
          <NumberInput field={field("n_threads")} form={form} />
        </div>
      </details>
    </>
  );
}

/** Fields of a job that a sweep does not have. */
const ONLY_JOBS: string[] = MORE.filter((each) => each.group === "limits" && !TRIAL_LIMITS.includes(each.key)).map((each) => each.key);

export const IN_MORE: TextKey[] = [...MORE.map((each) => each.key), ...Object.keys(CHOICES) as TextKey[]];
export const IN_TUNE_MORE: TextKey[] = ["max_depth", "max_changepoints", "folds", "fold_column", "min_samples_leaf", "class_weight", "time_limit", "n_threads"];

export function OwnSection(
  { form, dataset, open, sweeps, parent, continued, onContinued }:
  { form: Form; open: boolean; sweeps: boolean; parent: Job | null; continued: boolean; onContinued: (on: boolean) => void } & Data,
) {
  const { values, change } = form;
  const isPath = values.split_penalty.trim() === "path";
  const shown = (key: string) => !(sweeps && ONLY_JOBS.includes(key)) && !(isPath && key === "changepoint_penalty");
  return (
    <>
      <p class="quiet">To compare several values of a parameter, separate them by commas, such as 2, 3, 4.</p>
      <div class="fields">
        {MAIN.filter((each) => shown(each.key)).map((each) => (
          <NumberInput
            key={each.key} field={each} form={form}
            help={sweeps && each === HELD_BACK ? HELD_FOR_SWEEP : isPath && each.key === "split_penalty" ? "The best tree for every penalty is found at once." : undefined}
          />
        ))}
      </div>
      {sweeps && (
        <fieldset class="compared">
          <legend>How the combinations are compared</legend>
          <div class="fields">
            <NumberInput field={TOTAL_TIME} form={form} />
            <Judged form={form} dataset={dataset} />
            <Divided form={form} dataset={dataset} />
          </div>
        </fieldset>
      )}
      <details open={open}>
        <summary>More parameters</summary>
        <div class="fields">
          <ChoiceInput field={CHOICES.candidates} form={form} />
          {MORE.filter((each) => shown(each.key)).map((each) => <NumberInput key={each.key} field={each} form={form} />)}
          <ChoiceInput field={CHOICES.categories} form={form} />
          <ChoiceInput field={CHOICES.criterion} form={form} />
          <ChoiceInput field={CHOICES.class_weight} form={form} />
          {!isPath && (
            <Check
              name="Polish" value={values.polish} onChange={(polish) => change({ polish })}
              help={about("polish").description} error={complaintAbout(form.error, "polish", form.path)}
            />
          )}
          {parent && !sweeps && (
            <Check
              name={`Begin with the best tree of ${title(parent)}`} value={continued} onChange={onContinued}
              help="The search starts with that tree as its best tree."
            />
          )}
        </div>
      </details>
    </>
  );
}
