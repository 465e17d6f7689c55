// The form for a chosen file: target, roles and CSV options.
import { useEffect, useRef, useState } from "preact/hooks";
import { complaintAt } from "../api/client.ts";
import { bytes, counted } from "../format.ts";
import { Field, focusFirstError } from "../parts/field.tsx";
import { Refusal } from "../parts/states.tsx";
import { go } from "../router.ts";
import { columnNames, isParquet, likelyTarget, PLAIN, upload, type UploadOptions } from "./upload.ts";

const PLACED = ["/query/target", "/query/delimiter", "/query/decimal", "/query/null_values"];
const CHARSETS = { "utf-8": "UTF-8", "windows-1252": "Windows-1252", "iso-8859-1": "ISO-8859-1", "utf-16": "UTF-16" };

export function Draft({ file, onCancel }: { file: File; onCancel: () => void }) {
  const [names, setNames] = useState<string[]>();
  const [options, setOptions] = useState<UploadOptions>(PLAIN);
  const [text, setText] = useState(true);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
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
    setSending(true);
    setError(undefined);
    try {
      go(`/datasets/${(await upload(file, options)).id}`);
    } catch (refused) {
      setError(refused);
      focusFirstError(form.current);
    } finally {
      setSending(false);
    }
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
              <select value={options.delimiter} onChange={(event) => change({ delimiter: event.currentTarget.value })}>
                <option value="">Detect</option><option value=",">Comma</option><option value=";">Semicolon</option>
                <option value="tab">Tab</option><option value="|">Vertical bar</option>
              </select>
            </Field>
            <Field name="Decimal sign" error={complaintAt(error, "/query/decimal")} help="The point in 1.5.">
              <select value={options.decimal} onChange={(event) => change({ decimal: event.currentTarget.value })}>
                <option value="">Detect</option><option value=".">Point</option><option value=",">Comma</option>
              </select>
            </Field>
            <Field name="Encoding" help="The character encoding of the file.">
              <select value={options.charset} onChange={(event) => change({ charset: event.currentTarget.value })}>
                {Object.entries(CHARSETS).map(([value, name]) => <option value={value}>{name}</option>)}
              </select>
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
        <button class="primary" disabled={sending || !names?.length}>{sending ? "Reading the table…" : "Upload"}</button>
        <button type="button" onClick={onCancel}>Cancel</button>
      </div>
    </form>
  );
}
