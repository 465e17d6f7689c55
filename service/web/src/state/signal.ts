// An observable value.
import { useEffect, useState } from "preact/hooks";

export class Signal<Value> {
  #value: Value;
  #watchers = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of [...this.#watchers]) watcher();
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Resolves when the value meets the condition. */
  when(wanted: (value: Value) => boolean): Promise<void> {
    if (wanted(this.#value)) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = this.watch(() => {
        if (!wanted(this.#value)) return;
        stop();
        resolve();
      });
    });
  }
}

export function useSignal<Value>(signal: Signal<Value>): Value {
  const [, redraw] = useState({});
  const drawn = signal.value;
  useEffect(() => {
    const stop = signal.watch(() => redraw({}));
    // The value may have changed after it was drawn and before this effect ran.
    if (!Object.is(signal.value, drawn)) redraw({});
    return stop;
  }, [signal]);
  return drawn;
}
