// The form for a chosen file: target and CSV options.
import { useEffect, useRef, useState } from "preact/hooks";
import { complaintAt } from "../api/client.ts";
import { bytes, counted } from "../format.ts";
import { Field, focusFirstError, Select } from "../parts/field.tsx";
import { Refusal } from "../parts/states.tsx";
import { go } from "../router.ts";
import { useAction } from "../state/action.ts";
import { columnNames, isParquet, likelyTarget, PLAIN, upload, type UploadOptions } from "./upload.ts";

const PLACED = ["/query/target", "/query/delimiter", "/query/decimal", "/query/null_values"];
const DELIMITERS: Record<string, string> = { "": "Detect", ",": "Comma", ";": "Semicolon", tab: "Tab", "|": "Vertical bar" };
const DECIMALS: Record<string, string> = { "": "Detect", ".": "Point", ",": "Comma" };
const CHARSETS: Record<string, string> = { "utf-8": "UTF-8", "windows-1252": "Windows-1252", "iso-8859-1": "ISO-8859-1", "utf-16": "UTF-16" };

export function Draft({ file, onCancel }: { file: File; onCancel: () => void }) {
  const [names, setNames] = useState<string[]>();
  const [options, setOptions] = useState<UploadOptions>(PLAIN);
  const [text, setText] = useState(true);
  const { run, busy, error, setError } = useAction();
  const form = useRef<HTMLFormElement>(null);
  const change = (part: Partial<UploadOptions>) => setOptions((old) => ({ ...old, ...part }));

  useEffect(() => {
    let current = true;
    setNames(undefined);
    setError(undefined);
    void isParquet(file).then((parquet) => current && setText(!parquet), () => undefined);
    columnNames(file, options.charset).then((found) => {
      if (!current) return;
      setNames(found);
      setOptions((old) => ({ ...old, target: found.includes(old.target) ? old.target : likelyTarget(found) }));
    }, () => {
      if (current) {
        setNames([]);
        setError(new Error("This file cannot be read as a table. Choose a CSV or a Parquet file."));
      }
    });
    return () => void (current = false);
  }, [file, options.charset]);

  const submit = async (event: Event) => {
    event.preventDefault();
    const done = await run(async () => go(`/datasets/${(await upload(file, options)).id}`));
    if (!done) focusFirstError(form.current);
  };

  return (
    <form class="panel draft" ref={form} onSubmit={submit}>
      <h2>{file.name}</h2>
      <p class="quiet">{bytes(file.size)}{names && `, ${counted(names.length, "column")}`}</p>
      <div class="fields">
        <Field name="Target" help="The column to predict. Its values are the classes." error={complaintAt(error, "/query/target")}>
          <select value={options.target} onChange={(event) => change({ target: event.currentTarget.value })}>
            {names?.map((name) => <option value={name}>{name}</option>)}
          </select>
        </Field>
      </div>
      {text && (
        <details>
          <summary>CSV options</summary>
          <div class="fields">
            <Field name="Separator" help="Detected by default." error={complaintAt(error, "/query/delimiter")}>
              <Select value={options.delimiter} choices={DELIMITERS} onValue={(delimiter) => change({ delimiter })} />
            </Field>
            <Field name="Decimal sign" error={complaintAt(error, "/query/decimal")} help="The point in 1.5.">
              <Select value={options.decimal} choices={DECIMALS} onValue={(decimal) => change({ decimal })} />
            </Field>
            <Field name="Encoding" help="The character encoding of the file.">
              <Select value={options.charset} choices={CHARSETS} onValue={(charset) => change({ charset })} />
            </Field>
            <Field
              name="Words for a missing cell" error={complaintAt(error, "/query/null_values")}
              help="Separated by commas. By default NA, NaN, null and similar words. An empty cell is always missing."
            >
              <input value={options.nullValues} onInput={(event) => change({ nullValues: event.currentTarget.value })} />
            </Field>
          </div>
        </details>
      )}
      <Refusal error={error} placed={PLACED} />
      <div class="row">
        <button class="primary" disabled={busy || !names?.length}>{busy ? "Uploading…" : "Upload"}</button>
        <button type="button" onClick={onCancel}>Cancel</button>
      </div>
    </form>
  );
}
