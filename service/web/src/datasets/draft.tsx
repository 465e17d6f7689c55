// The form for a chosen file: the roles and types of its columns, and how it is read.
import { useEffect, useRef, useState } from "preact/hooks";
import { complaintAt } from "../api/client.ts";
import type { Dataset, DatasetSummary, ProblemFix } from "../api/types.ts";
import { bytes, counted } from "../format.ts";
import { Field, focusFirstError } from "../parts/field.tsx";
import { Fixes, fixesOf } from "../parts/fixes.tsx";
import { Refusal } from "../parts/states.tsx";
import { go } from "../router.ts";
import { useAction } from "../state/action.ts";
import { ColumnChoices } from "./choices.tsx";
import { atColumns, columnComplaint } from "./complaints.ts";
import { CHARSETS, CsvOptions, DELIMITERS, PLACED_FIELDS } from "./csv-options.tsx";
import { guessColumns, type Guesses } from "./guess.ts";
import { PLAIN, type UploadOptions, withFix, withRole } from "./options.ts";
import { Progress } from "./progress.tsx";
import { proposed, usualName } from "./proposal.ts";
import { RowsTable } from "./rows.tsx";
import { nextTask, readStart, type Start } from "./start.ts";
import { TargetRemark } from "./target-remark.tsx";
import { isParquet, upload } from "./upload.ts";

const SHOWN_ROWS = 8;

interface Props {
  file: File;
  base?: Dataset; // the dataset whose roles or types are changed
  initial?: UploadOptions;
  fix?: ProblemFix | null; // that is applied to the options at first
  others: DatasetSummary[];
  onCancel: () => void;
}

export function Draft({ file, base, initial, fix: first, others, onCancel }: Props) {
  const [read, setRead] = useState<{ start: Start; guesses: Guesses }>();
  const [options, setOptions] = useState<UploadOptions>({ ...PLAIN, ...initial, name: "" });
  const [sent, setSent] = useState<number>();
  const { run, busy, error, setError } = useAction();
  const form = useRef<HTMLFormElement>(null);
  const stopped = useRef(new AbortController());
  const [isText, setIsText] = useState(false);
  const { start, guesses } = read ?? {};
  useEffect(() => () => stopped.current.abort(), []);
  useEffect(() => void isParquet(file).then((parquet) => setIsText(!parquet), () => undefined), [file]);

  useEffect(() => {
    let current = true;
    readStart(file, options).then(async (found) => {
      const guessed = guessColumns(found, options.decimal);
      await nextTask();
      if (!current) return;
      setError(undefined);
      setOptions((old) => {
        const next = proposed(old, start, found, guessed.columns, base !== undefined);
        return first && !start ? withFix(next, first) : next;
      });
      setRead({ start: found, guesses: guessed });
    }).catch(() => {
      if (!current) return;
      setRead(undefined);
      setError(new Error("This file cannot be read as a table. Choose a CSV or a Parquet file."));
    });
    return () => void (current = false);
  }, [file, options.charset, options.delimiter, options.decimal, options.nullValues]);

  const names = start?.names ?? [];
  const usual = usualName(file, options, others, base);
  const send = async (wanted: UploadOptions) => {
    setSent(0);
    const complete = { ...wanted, name: wanted.name.trim() || usual, charset: wanted.charset || (start?.csv?.charset ?? "") };
    const done = await run(async () => {
      const dataset = await upload(file, complete, { signal: stopped.current.signal, onSent: setSent });
      go(`/datasets/${dataset.id}`);
    });
    setSent(undefined);
    if (!done) focusFirstError(form.current);
  };
  const fix = (chosen: ProblemFix) => {
    const next = withFix(options, chosen);
    setOptions(next);
    void send(next);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    void send(options);
  };

  return (
    <form class="panel draft" ref={form} onSubmit={submit}>
      <h2>{file.name}</h2>
      <p class="quiet" role="status">{start ? summary(file, start, guesses!) : bytes(file.size)}</p>
      {base && (
        <p class="notice good">
          <span>This makes a new dataset. {base.name ?? "The dataset"} stays as it is, with its jobs and models.
            {base.bytes !== file.size && ` This file has another size than the one of ${base.name ?? "the dataset"}.`}</span>
        </p>
      )}
      <div class="fields">
        <Field name="Name" error={complaintAt(error, "/query/name")} help="A name to find the dataset again.">
          <input value={options.name} placeholder={usual} maxLength={200} onInput={(event) => setOptions({ ...options, name: event.currentTarget.value })} />
        </Field>
        <Field name="Target" help="The column to predict. Its values are the classes." error={complaintAt(error, "/query/target")}>
          <select value={options.target} required onChange={(event) => setOptions(withRole(options, event.currentTarget.value, "target"))}>
            {!names.includes(options.target) && <option value="">Choose a column</option>}
            {names.map((name) => <option value={name}>{name}</option>)}
          </select>
        </Field>
      </div>
      {guesses && <TargetRemark guesses={guesses} options={options} onChange={setOptions} />}
      {isText && ( // also if it cannot be read as it is: another encoding may be the remedy
        <CsvOptions
          options={options} error={error} onChange={(part) => setOptions((old) => ({ ...old, ...part }))}
          found={start?.csv && { delimiter: DELIMITERS[start.csv.delimiter] ?? start.csv.delimiter, charset: CHARSETS[start.csv.charset], decimal: guesses!.decimal }}
        />
      )}
      {start && guesses && names.length > 0 && (
        <>
          <h3>First rows</h3>
          {start.remark ? <p class="quiet">{start.remark}</p> : <RowsTable names={names} rows={start.rows.slice(0, SHOWN_ROWS)} />}
          <h3>Columns</h3>
          <p class="quiet">Types are detected from the first rows here, and from all rows by the server. It keeps the types that you choose.</p>
          <ColumnChoices columns={guesses.columns} options={options} complaints={(name) => columnComplaint(error, name)} onChange={setOptions} />
        </>
      )}
      <div class="send">
        <Refusal error={error} placed={[...PLACED_FIELDS, ...atColumns(error, names)]} />
        <Fixes fixes={fixesOf(error)} busy={busy} onFix={fix} />
        {busy && sent !== undefined && <Progress sent={sent} size={file.size} />}
        <div class="row">
          <button class="primary" disabled={busy || !names.length || !options.target}>{busy ? "Uploading…" : base ? "Make a new dataset" : "Upload"}</button>
          <button type="button" onClick={onCancel}>Cancel</button>
        </div>
      </div>
    </form>
  );
}

function summary(file: File, { names, csv }: Start, { decimal }: Guesses): string {
  const parts = [bytes(file.size), counted(names.length, "column")];
  if (csv) parts.push(`separated by ${DELIMITERS[csv.delimiter] ?? csv.delimiter}`, `decimal sign: ${decimal}`, `encoding: ${CHARSETS[csv.charset]}`);
  return parts.join("; ");
}
