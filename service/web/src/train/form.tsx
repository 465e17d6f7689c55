// The form that starts a job: a dataset and parameters, each with a description.
import { useEffect, useRef, useState } from "preact/hooks";
import { complaintAt, get, getAll, send } from "../api/client.ts";
import type { DatasetSummary, Job } from "../api/types.ts";
import { capitalized, count } from "../format.ts";
import { Field, focusFirstError } from "../parts/field.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Await, Empty, Refusal } from "../parts/states.tsx";
import { go } from "../router.ts";
import { useAction } from "../state/action.ts";
import { announcement } from "../state/announcement.ts";
import { useResource } from "../state/resource.ts";
import { title } from "../words.ts";
import { about, DEFAULTS, MAIN, MORE, type NumberField, requestBody, requestKey, type Values, valuesOf } from "./parameters.ts";

const PLACED = [
  "/body/dataset_id", "/body/name", "/body/parameters/candidates", "/body/parameters/categories", ...[...MAIN, ...MORE].map((field) => field.pointer),
];

export function Train({ query }: { query: URLSearchParams }) {
  const from = query.get("from");
  const datasets = useResource("datasets", (signal) => getAll<DatasetSummary>("/v1/datasets", signal));
  const parent = useResource(`from ${from}`, async (signal) => (from ? await get<Job>(`/v1/jobs/${from}`, signal) : null));
  return (
    <>
      <ViewHead
        title="Train" about="Search for the best tree of a dataset. You can watch the search, stop it at any time, and run several at once."
      />
      <Await from={datasets} what="Loading the datasets">
        {(items) => items.length === 0
          ? (
            <Empty title="No datasets yet">
              <p><a class="button primary" href="#/datasets">Add a dataset</a></p>
            </Empty>
          )
          : (
            <Await from={parent} what="Loading the job">
              {(job) => <Form datasets={items} chosen={query.get("dataset") ?? job?.dataset_id ?? items[0].id} parent={job} />}
            </Await>
          )}
      </Await>
    </>
  );
}

function Form({ datasets, chosen, parent }: { datasets: DatasetSummary[]; chosen: string; parent: Job | null }) {
  const [datasetId, setDatasetId] = useState(chosen);
  const [values, setValues] = useState<Values>(parent ? valuesOf(parent) : DEFAULTS);
  const [continued, setContinued] = useState(false);
  const { run, busy, error } = useAction();
  const form = useRef<HTMLFormElement>(null);
  const key = useRef(requestKey());
  const change = (part: Partial<Values>) => setValues((old) => ({ ...old, ...part }));
  useEffect(() => void (key.current = requestKey()), [values, datasetId, continued]);

  const start = async (event: Event) => {
    event.preventDefault();
    // An input with text that is not a number has no value; it must not be taken for an empty one.
    const invalid = [...form.current!.querySelectorAll("input")].find((input) => input.validity.badInput);
    if (invalid) {
      invalid.reportValidity();
      return;
    }
    const done = await run(async () => {
      const body = requestBody({ ...values, name: values.name.trim() || usual }, datasetId, continued && parent ? parent.id : null);
      const job = await send<Job>("POST", "/v1/jobs", body, { "Idempotency-Key": key.current });
      announcement.set("The job is started.");
      go(`/jobs/${job.id}`);
    });
    if (!done) focusFirstError(form.current);
  };

  const chosenSet = datasets.find((item) => item.id === datasetId);
  const usual = `${chosenSet ? title(chosenSet) : "Search"}, depth ${values.max_depth}`.slice(0, 200);

  const numberField = (field: NumberField) => (
    <Field
      key={field.key} name={field.label} unit={field.unit} error={complaintAt(error, field.pointer)}
      help={field.help(values[field.key])}
    >
      <input
        type="number" inputMode="decimal" min={field.min} max={field.max} step={field.step} required={!field.optional}
        value={values[field.key]} onInput={(event) => change({ [field.key]: event.currentTarget.value })}
      />
    </Field>
  );

  const choiceField = (key: "candidates" | "categories", label: string) => (
    <Field name={label} help={about(key).description} error={complaintAt(error, `/body/parameters/${key}`)}>
      <select value={values[key]} onChange={(event) => change({ [key]: event.currentTarget.value })}>
        {Object.entries(about(key).choices!).map(([value, meaning]) => <option value={value}>{capitalized(meaning)}</option>)}
      </select>
    </Field>
  );

  return (
    <form ref={form} class="panel" onSubmit={start} noValidate>
      <div class="fields">
        <Field name="Dataset" error={complaintAt(error, "/body/dataset_id")} help="The data to learn from.">
          <select value={datasetId} onChange={(event) => setDatasetId(event.currentTarget.value)}>
            {!datasets.some((item) => item.id === datasetId) && <option value={datasetId}>Deleted dataset</option>}
            {datasets.map((item) => (
              <option value={item.id}>{title(item)} – {item.target}, {count(item.rows)} rows</option>
            ))}
          </select>
        </Field>
        <Field name="Name" error={complaintAt(error, "/body/name")} help="A name to find the job again.">
          <input value={values.name} placeholder={usual} maxLength={200} onInput={(event) => change({ name: event.currentTarget.value })} />
        </Field>
        {MAIN.map(numberField)}
      </div>
      <details>
        <summary>More parameters</summary>
        <div class="fields">
          {choiceField("candidates", "Where cuts may lie")}
          {MORE.map(numberField)}
          {choiceField("categories", "Categories")}
          <Check
            name="Balance the classes" value={values.balanced} onChange={(balanced) => change({ balanced })}
            help="Give every class the same total weight. Use it for data in which the interesting class is rare."
          />
          <Check
            name="Polish" value={values.polish} onChange={(polish) => change({ polish })}
            help={about("polish").description}
          />
          {parent && (
            <Check
              name={`Begin with the best tree of ${title(parent)}`} value={continued} onChange={setContinued}
              help="The search starts with that tree as its best tree."
            />
          )}
        </div>
      </details>
      <Refusal error={error} placed={PLACED} />
      <div class="row">
        <button class="primary" disabled={busy}>{busy ? "Starting…" : "Start"}</button>
      </div>
    </form>
  );
}

function Check(
  { name, help, value, onChange }: { name: string; help: string; value: boolean; onChange: (value: boolean) => void },
) {
  return (
    <div class="field check">
      <label><input type="checkbox" checked={value} onChange={(event) => onChange(event.currentTarget.checked)} /> {name}</label>
      <p class="help">{help}</p>
    </div>
  );
}
