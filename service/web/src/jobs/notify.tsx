// A notification of the browser when a job ends, if the user asks for it.
import { useState } from "preact/hooks";
import { get, temporary } from "../api/client.ts";
import type { Job } from "../api/types.ts";
import { Icon } from "../parts/icons.tsx";
import { heldBackWords } from "../quality/sentences.ts";
import { go } from "../router.ts";
import { connected } from "../state/connection.ts";
import { Signal, useSignal } from "../state/signal.ts";
import { showMessage } from "../state/undo.ts";
import { ended, stateWords, title } from "../words.ts";

const INTERVAL = 3000; // milliseconds between two looks at a job, also of a hidden tab

const awaited = new Signal<ReadonlySet<string>>(new Set());

function setAwaited(id: string, on: boolean): void {
  const next = new Set(awaited.value);
  if (on) next.add(id);
  else next.delete(id);
  awaited.set(next);
}

/** Waits for the end of the job, whichever view is open. */
async function follow(id: string): Promise<void> {
  while (awaited.value.has(id)) {
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
    await connected();
    try {
      const job = await get<Job>(`/v1/jobs/${id}`);
      if (!ended(job.state) || !awaited.value.has(id)) continue;
      setAwaited(id, false);
      tell(job);
    } catch (error) {
      if (!temporary(error)) setAwaited(id, false);
    }
  }
}

function tell(job: Job): void {
  const held = job.metrics?.validation;
  const body = held ? `${heldBackWords(held)}.` : "";
  const head = `${title(job)}: ${stateWords(job)}`;
  try {
    const shown = new Notification(head, { body, tag: job.id });
    shown.onclick = () => {
      focus();
      go(`/jobs/${job.id}`);
      shown.close();
    };
  } catch {
    showMessage(`${head}. ${body}`.trim()); // browsers of phones allow notifications only to service workers
  }
}

export function NotifyButton({ job }: { job: Job }) {
  const on = useSignal(awaited).has(job.id);
  const [refused, setRefused] = useState(false);
  if (ended(job.state) || !("Notification" in window)) return null;
  const toggle = async () => {
    if (on) {
      setAwaited(job.id, false);
      return;
    }
    const allowed = (await Notification.requestPermission()) === "granted";
    setRefused(!allowed);
    if (!allowed) return;
    setAwaited(job.id, true);
    void follow(job.id);
  };
  return (
    <>
      <button
        type="button" aria-pressed={on} onClick={() => void toggle()}
        title="Shows a notification of the browser when the job ends, as long as this page is open"
      ><Icon name="bell" />Notify me when it ends</button>
      {refused && <span class="error" role="alert">The browser does not allow notifications of this page.</span>}
    </>
  );
}
