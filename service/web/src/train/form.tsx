// The view that starts a job or a sweep.
import { useEffect, useRef, useState } from "preact/hooks";
import { complaintAt, getAll, getIfFound, send } from "../api/client.ts";
import type { Dataset, DatasetSummary, Job, Sweep } from "../api/types.ts";
import { count } from "../format.ts";
import { Field, focusFirstError } from "../parts/field.tsx";
import { Fixes, fixesOf } from "../parts/fixes.tsx";
import { ViewHead } from "../parts/head.tsx";
import { Await, Empty, Refusal } from "../parts/states.tsx";
import { go } from "../router.ts";
import { useAction } from "../state/action.ts";
import { announcement } from "../state/announcement.ts";
import { useResource } from "../state/resource.ts";
import { title } from "../words.ts";
import { useCheck } from "./check.ts";
import { distinct, latestNames, proposedName } from "./names.ts";
import { CopiedParts } from "./copied.tsx";
import { Plan } from "./plan.tsx";
import { placedAt, repaired, requestKey, requestOf } from "./request.ts";
import { IN_MORE, IN_TUNE_MORE, OwnSection, TuneSection } from "./sections.tsx";
import { type Mode, ModeChoice, type Start, startOf } from "./start.tsx";
import { OWN, several, type TextKey, type Values } from "./values.ts";

type Origin = Job | Sweep | null; // what is copied

export function Train({ query }: { query: URLSearchParams }) {
  const from = query.get("from");
  const datasets = useResource("datasets", (signal) => getAll<DatasetSummary>("/v1/datasets", signal));
  const origin = useResource<Origin>(`from ${from}`, async (signal) =>
    (from && await getIfFound<Job | Sweep>(from.startsWith("swp_") ? `/v1/sweeps/${from}` : `/v1/jobs/${from}`, signal)) || null);
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
            <Await from={origin} what="Loading what is copied">
              {(found) => (
                <>
                  {from && !found && (
                    <p class="notice warn">
                      The {from.startsWith("swp_") ? "sweep" : "job"} whose parameters were to be copied is deleted, so the form has defaults instead.
                    </p>
                  )}
                  <Form datasets={items} start={startOf(query, found, items[0].id)} origin={found} />
                </>
              )}
            </Await>
          )}
      </Await>
    </>
  );
}

function Form({ datasets, start, origin }: { datasets: DatasetSummary[]; start: Start; origin: Origin }) {
  const [datasetId, setDatasetId] = useState(start.dataset);
  const [mode, setMode] = useState<Mode>(start.mode);
  const [each, setEach] = useState<Record<Mode, Values>>(start.values);
  const [continued, setContinued] = useState(false);
  const [touched, setTouched] = useState(false);
  const { run, busy, error: refused, setError } = useAction();
  const element = useRef<HTMLFormElement>(null);
  const key = useRef("");
  const dataset = useResource(`dataset ${datasetId}`, (signal) => getIfFound<Dataset>(`/v1/datasets/${datasetId}`, signal));
  const taken = useResource("names", latestNames);

  const values = each[mode];
  const set = (next: Values) => {
    setEach((old) => ({ ...old, [mode]: next }));
    setTouched(true);
    setError(undefined);
  };
  const chosenSet = datasets.find((item) => item.id === datasetId);
  const proposed = distinct(start.name ?? proposedName(chosenSet ? title(chosenSet) : "Search", values, mode === "tune"), taken.value ?? new Set());
  const parent = origin && "parameters" in origin ? origin : null;
  const request = requestOf(values, datasetId, values.name?.trim() || proposed, continued && parent ? parent.id : null);
  const text = `${request.path} ${JSON.stringify(request.body)}`;
  const checked = useCheck(request, touched || several(values));
  useEffect(() => void (key.current = requestKey()), [text]);
  const error = refused ?? (checked?.text === text ? checked.error : undefined);
  const form = { values, change: (part: Partial<Values>) => set({ ...values, ...part }), error, path: request.path };

  const submit = async (event: Event) => {
    event.preventDefault();
    // An input with text that is not a number has no value; it must not be taken for an empty one.
    const invalid = [...element.current!.querySelectorAll("input")].find((input) => input.validity.badInput);
    if (invalid) {
      invalid.reportValidity();
      return;
    }
    const done = await run(async () => {
      const { id } = await send<Job | Sweep>("POST", request.path, request.body, { "Idempotency-Key": key.current });
      announcement.set(request.path === "/v1/jobs" ? "The job is started." : "The sweep is started.");
      go(`${request.path.slice("/v1".length)}/${id}`);
    });
    if (!done) {
      for (const details of element.current?.querySelectorAll("details") ?? []) details.open ||= details.querySelector(".wrong") !== null;
      focusFirstError(element.current);
    }
  };

  const opened = (keys: TextKey[]) => keys.some((one) => one in start.preset);
  const fields = (Object.keys(OWN) as TextKey[]).filter((one) => typeof OWN[one] === "string");
  return (
    <form ref={element} class="panel train" onSubmit={submit} noValidate>
      <ModeChoice mode={mode} onMode={setMode} />
      <div class="fields">
        <Field name="Dataset" error={complaintAt(error, "/body/dataset_id")} help="The data to learn from.">
          <select value={datasetId} onChange={(event) => setDatasetId(event.currentTarget.value)}>
            {!chosenSet && <option value={datasetId}>Deleted dataset</option>}
            {datasets.map((item) => (
              <option value={item.id}>{title(item)} – {item.target}, {count(item.rows)} rows</option>
            ))}
          </select>
        </Field>
        <Field name="Name" error={complaintAt(error, "/body/name")} help={`A name to find the ${request.path === "/v1/jobs" ? "job" : "sweep"} again.`}>
          <input
            value={values.name ?? proposed} placeholder={proposed} maxLength={200}
            onInput={(event) => form.change({ name: event.currentTarget.value })}
          />
        </Field>
      </div>
      {mode === "tune"
        ? <TuneSection key="tune" form={form} dataset={dataset.value} open={opened(IN_TUNE_MORE)} />
        : (
          <OwnSection
            key="own" form={form} dataset={dataset.value} open={opened(IN_MORE)} sweeps={request.path === "/v1/sweeps"}
            parent={parent} continued={continued} onContinued={setContinued}
          />
        )}
      {values.kept && <CopiedParts kept={values.kept} onDrop={() => form.change({ kept: null })} />}
      {request.path === "/v1/sweeps" && <Plan checked={checked} current={text} />}
      <Refusal error={error} placed={placedAt([...fields, "polish"], request.path)} />
      <Fixes
        fixes={fixesOf(error).filter((fix) => fix.part === "body")} busy={busy} onFix={(fix) => {
          const fixed = repaired(request, fix);
          setDatasetId(fixed.datasetId);
          set({ ...fixed.values, name: values.name });
        }}
      />
      <div class="row">
        <button class="primary" disabled={busy}>{busy ? "Starting…" : "Start"}</button>
      </div>
    </form>
  );
}
