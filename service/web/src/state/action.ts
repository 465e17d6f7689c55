// An action of the user, such as a button that sends a request.
import { useState } from "preact/hooks";

/** Returns a function that runs an action, whether it is running, and the error of the last one. */
export function useAction() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  /** Returns whether the action succeeded. */
  const run = async (action: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      await action();
      return true;
    } catch (refused) {
      setError(refused);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { run, busy, error, setError };
}
