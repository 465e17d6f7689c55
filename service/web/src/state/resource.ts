// Data from the server with its state: loading, loaded, error or no connection.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { LostError } from "../api/client.ts";
import { connected, visible } from "./connection.ts";
import { useSignal } from "./signal.ts";
import { undone } from "./undo.ts";

export interface Resource<Value> {
  value?: Value; // neither a value nor an error: still loading
  error?: unknown;
  reload(): void;
}

/**
 * Loads when `key` changes, on request, after reconnecting and after an undo. The old value is kept until then.
 * `every` returns the milliseconds after which a visible page loads again.
 */
export function useResource<Value>(
  key: string, load: (signal: AbortSignal) => Promise<Value>, every?: (value: Value | undefined) => number,
): Resource<Value> {
  const [state, setState] = useState<{ key: string; value?: Value; error?: unknown }>({ key });
  const [round, setRound] = useState(0);
  const undo = useSignal(undone);
  const current = useRef({ load, every });
  current.current = { load, every };

  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    setState((old) => (old.key === key ? old : { key }));
    const look = async (): Promise<void> => {
      let value: Value | undefined;
      try {
        value = await current.current.load(stop.signal);
        if (stop.signal.aborted) return;
        setState({ key, value });
      } catch (error) {
        if (stop.signal.aborted) return;
        setState((old) => ({ ...old, error }));
        if (error instanceof LostError) {
          await connected();
          if (!stop.signal.aborted) void look();
          return;
        }
      }
      const pause = current.current.every?.(value);
      if (pause !== undefined) {
        timer = window.setTimeout(() => void visible().then(() => void (stop.signal.aborted || look())), pause);
      }
    };
    void look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key, round, undo]);

  const reload = useCallback(() => setRound((number) => number + 1), []);
  return state.key === key ? { value: state.value, error: state.error, reload } : { reload };
}
