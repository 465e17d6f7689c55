// An action of the user, such as a button that sends a request.
import { useEffect, useRef, useState } from "preact/hooks";

/** Returns a function that runs an action, whether it is running, and the error of the last one. */
export function useAction() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const current = useRef(new AbortController());
  useEffect(() => () => current.current.abort(), []);
  /** Returns whether the action succeeded. Its signal is aborted when the next action starts or the view closes. */
  const run = async (action: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> => {
    current.current.abort();
    current.current = new AbortController();
    const { signal } = current.current;
    setBusy(true);
    setError(undefined);
    try {
      await action(signal);
      return true;
    } catch (refused) {
      if (!signal.aborted) setError(refused);
      return false;
    } finally {
      if (!signal.aborted) setBusy(false);
    }
  };
  return { run, busy, error, setError };
}
