// Lets the server check the form while it is filled in, without starting anything.
import { useEffect, useState } from "preact/hooks";
import { ApiError, request as ask } from "../api/client.ts";
import type { Job, Sweep } from "../api/types.ts";
import type { Request } from "./request.ts";

const PAUSE = 350; // milliseconds after the last change

export interface Checked { text: string; answer?: Job | Sweep; error?: ApiError } // `text`: the request that was checked

/** Returns what the server says about the request; about an earlier one until it has answered. */
export function useCheck({ path, body }: Request, active: boolean): Checked | undefined {
  const [checked, setChecked] = useState<Checked>();
  const text = `${path} ${JSON.stringify(body)}`;
  useEffect(() => {
    if (!active) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => void check(path, body, stop.signal).then(
      (result) => stop.signal.aborted || setChecked({ text, ...result }), () => undefined), PAUSE);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [text, active]);
  return checked;
}

async function check(path: string, body: unknown, signal: AbortSignal): Promise<Omit<Checked, "text">> {
  try {
    const answer = await ask(`${path}?validate_only=true`, {
      method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal,
    });
    return { answer: (await answer.json()) as Job | Sweep };
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return { error };
    throw error; // Start shows it
  }
}
