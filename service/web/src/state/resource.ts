// Data from the server with its state: loading, loaded, error or no connection.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { LostError } from "../api/client.ts";
import { lost } from "./connection.ts";

export interface Resource<Value> {
  value: Value | undefined;
  error: unknown;
  loading: boolean;
  reload(): void;
  put(value: Value): void;
}

/** Loads when `key` changes, on request, and after reconnecting. The old value is kept until then. */
export function useResource<Value>(
  key: string, load: (signal: AbortSignal) => Promise<Value>, every?: (value: Value | undefined) => number | null,
): Resource<Value> {
  const [state, setState] = useState<{ key: string; value?: Value; error?: unknown; loading: boolean }>(
    { key, loading: true },
  );
  const [round, setRound] = useState(0);
  const loader = useRef(load);
  loader.current = load;
  const pace = useRef(every);
  pace.current = every;

  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    setState((old) => (old.key === key ? { ...old, loading: true } : { key, loading: true }));
    const look = async (): Promise<void> => {
      let value: Value | undefined;
      try {
        value = await loader.current(stop.signal);
        if (stop.signal.aborted) return;
        setState({ key, value, loading: false });
      } catch (error) {
        if (stop.signal.aborted) return;
        setState((old) => ({ ...old, error, loading: false }));
        if (error instanceof LostError) {
          await lost.when((away) => !away);
          if (!stop.signal.aborted) void look();
          return;
        }
      }
      const pause = pace.current?.(value) ?? null;
      if (pause !== null) timer = window.setTimeout(() => void whenSeen(stop.signal, look), pause);
    };
    void look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key, round]);

  const reload = useCallback(() => setRound((number) => number + 1), []);
  const put = useCallback((value: Value) => setState({ key, value, loading: false }), [key]);
  const mine = state.key === key;
  return {
    value: mine ? state.value : undefined,
    error: mine ? state.error : undefined,
    loading: mine ? state.loading : true,
    reload, put,
  };
}

/** Pauses requests while the page is hidden. */
async function whenSeen(signal: AbortSignal, then: () => Promise<void>): Promise<void> {
  while (document.hidden) {
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
  if (!signal.aborted) await then();
}

