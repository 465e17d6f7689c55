// A row of buttons of which one is pressed.
import type { ComponentChildren } from "preact";

interface Props<Name extends string> {
  label: string;
  choices: Partial<Record<Name, ComponentChildren>>; // in order
  value: Name;
  onValue: (name: Name) => void;
}

export function Choice<Name extends string>({ label, choices, value, onValue }: Props<Name>) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {(Object.keys(choices) as Name[]).map((name) => (
        <button type="button" aria-pressed={name === value} onClick={() => onValue(name)}>{choices[name]}</button>
      ))}
    </div>
  );
}
