// Form fields with their name, help text and error.
import { cloneElement, type ComponentChildren, type VNode } from "preact";
import { useId } from "preact/hooks";

interface Props {
  name: string;
  help?: string;
  error?: string;
  unit?: string;
  below?: ComponentChildren; // shown below the control
  children: VNode<Record<string, unknown>>;
}

export function Field({ name, help, error, unit, below, children }: Props) {
  const id = useId();
  const described = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(" ");
  const control = cloneElement(children, {
    id, "aria-invalid": error ? "true" : undefined, "aria-describedby": described || undefined,
  });
  return (
    <div class={error ? "field wrong" : "field"}>
      <label for={id}>{name}</label>
      <div class="control">{control}{unit && <span class="unit">{unit}</span>}</div>
      {below}
      {error && <p class="error" id={`${id}-error`}>{error}</p>}
      {help && <p class="help" id={`${id}-help`}>{help}</p>}
    </div>
  );
}

/** A select element for choices with their words. Other properties are those of the element. */
export function Select<Value extends string>(
  { choices, onValue, ...rest }:
  { value: Value; choices: Record<Value, string>; onValue: (value: Value) => void; "aria-label"?: string; "aria-invalid"?: boolean },
) {
  return (
    <select {...rest} onChange={(event) => onValue(event.currentTarget.value as Value)}>
      {Object.entries<string>(choices).map(([value, words]) => <option value={value}>{words}</option>)}
    </select>
  );
}

/** Moves the focus to the first field with an error. */
export function focusFirstError(form: HTMLElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
}
