// Tabs of a view.
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";

interface Props<Name extends string> {
  label: string;
  names: Record<Name, ComponentChildren>; // the tabs in order
  value: Name;
  onValue: (name: Name) => void;
  children: ComponentChildren; // the panel of the chosen tab
}

/** The left and right arrow keys, Home and End choose a tab, as the ARIA practices recommend. */
export function Tabs<Name extends string>({ label, names, value, onValue, children }: Props<Name>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const all = Object.keys(names) as Name[];
  const keys = (event: KeyboardEvent) => {
    const at = all.indexOf(value);
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const name = all[(next + all.length) % all.length];
    onValue(name);
    list.current?.querySelector<HTMLElement>(`[data-tab="${name}"]`)?.focus();
  };
  return (
    <>
      <div class="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={keys}>
        {all.map((name) => (
          <button
            type="button" role="tab" data-tab={name} id={`${id}-${name}`} aria-selected={name === value}
            aria-controls={`${id}-panel`} tabIndex={name === value ? 0 : -1} onClick={() => onValue(name)}
          >{names[name]}</button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`} class="tab-panel">{children}</div>
    </>
  );
}
