// The controls of the form: numbers or lists of them, choices, and check boxes.
import { useState } from "preact/hooks";
import { capitalized, listed } from "../format.ts";
import { Field } from "../parts/field.tsx";
import type { ChoiceField, NumberField } from "./parameters.ts";
import type { Request } from "./request.ts";
import { complaintAbout } from "./request.ts";
import { entries, type TextKey, type Values } from "./values.ts";

/** What all fields of a form share. */
export interface Form {
  values: Values;
  change: (part: Partial<Values>) => void;
  error: unknown;
  path: Request["path"];
}

interface Words { label?: string; help?: string; placeholder?: string }

/** A number; if several values can be tried, a list of numbers. */
export function NumberInput({ field, form, label, help, placeholder }: { field: NumberField; form: Form } & Words) {
  const { key, listed: isList, min, max, step } = field;
  const text = form.values[key];
  const shared = { value: text, placeholder, onInput: (event: { currentTarget: HTMLInputElement }) => form.change({ [key]: event.currentTarget.value }) };
  const many = isList ? entries(text) : [];
  return (
    <Field
      name={label ?? field.label} unit={field.unit} error={complaintAbout(form.error, key, form.path)}
      help={help ?? (many.length > 1 ? `Each of ${listed(many)} is tried. ${field.help("")}` : field.help(text))}
    >
      {isList
        ? <input type="text" inputMode="text" autocomplete="off" spellcheck={false} {...shared} />
        : <input type="number" inputMode="decimal" min={min} max={max} step={step} required={!field.optional} {...shared} />}
    </Field>
  );
}

const MANY = "several";

/** One of several choices; with "try several", any number of them. */
export function ChoiceInput({ field, form }: { field: ChoiceField; form: Form }) {
  const chosen = entries(form.values[field.key]);
  const [open, setOpen] = useState(false);
  const many = open || chosen.length > 1;
  const choose = (list: string[]) => form.change({ [field.key]: Object.keys(field.choices).filter((each) => list.includes(each)).join(", ") });
  const pick = (value: string) => {
    setOpen(value === MANY);
    if (value !== MANY) choose([value]);
  };
  const boxes = (
    <div class="several" role="group" aria-label={`${field.label}: values to try`}>
      {Object.entries(field.choices).map(([value, meaning]) => (
        <label>
          <input
            type="checkbox" checked={chosen.includes(value)} disabled={chosen.length === 1 && chosen[0] === value}
            onChange={(event) => choose(event.currentTarget.checked ? [...chosen, value] : chosen.filter((each) => each !== value))}
          /> {capitalized(meaning)}
        </label>
      ))}
    </div>
  );
  return (
    <Field name={field.label} help={field.help} error={complaintAbout(form.error, field.key, form.path)} below={many && boxes}>
      <select value={many ? MANY : chosen[0]} onChange={(event) => pick(event.currentTarget.value)}>
        {Object.entries(field.choices).map(([value, meaning]) => <option value={value}>{capitalized(meaning)}</option>)}
        <option value={MANY}>Try several of these</option>
      </select>
    </Field>
  );
}

/** One of several words that are not parameters of a job. */
export function WordInput(
  { name, help, at, words, form }: { name: string; help: string; at: TextKey; words: Record<string, string>; form: Form },
) {
  return (
    <Field name={name} help={help} error={complaintAbout(form.error, at, form.path)}>
      <select value={form.values[at]} onChange={(event) => form.change({ [at]: event.currentTarget.value })}>
        {Object.entries(words).map(([value, meaning]) => <option value={value}>{capitalized(meaning)}</option>)}
      </select>
    </Field>
  );
}

export function Check(
  { name, help, error, value, onChange }: { name: string; help: string; error?: string; value: boolean; onChange: (value: boolean) => void },
) {
  return (
    <div class={error ? "field check wrong" : "field check"}>
      <label><input type="checkbox" checked={value} onChange={(event) => onChange(event.currentTarget.checked)} /> {name}</label>
      {error && <p class="error">{error}</p>}
      <p class="help">{help}</p>
    </div>
  );
}
