// The buttons that control a job: finish, pause, resume, cancel.
import { useState } from "preact/hooks";
import { send } from "../api/client.ts";
import type { Job, Verb } from "../api/types.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Icon } from "../parts/icons.tsx";
import { Refusal } from "../parts/states.tsx";

const VERBS: Record<Verb, { word: string; icon: string; title: string }> = {
  finish: { word: "Finish", icon: "flag", title: "Stop now and keep the best tree as a model" },
  pause: { word: "Pause", icon: "pause", title: "Save the search to disk and free its worker" },
  resume: { word: "Resume", icon: "play", title: "Continue the search where it stopped" },
  cancel: { word: "Cancel", icon: "stop", title: "Stop without making a model" },
};

export function Controls({ job, onJob }: { job: Job; onJob: (job: Job) => void }) {
  const [busy, setBusy] = useState<Verb | null>(null);
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  const allowed = (Object.keys(VERBS) as Verb[]).filter((verb) => job.links[verb] !== undefined);

  const ask = async (verb: Verb) => {
    setAsking(false);
    setBusy(verb);
    setError(undefined);
    try {
      onJob(await send<Job>("POST", `/v1/jobs/${job.id}/${verb}`));
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(null);
    }
  };

  if (!allowed.length && error === undefined) return null;
  return (
    <div class="row controls" role="group" aria-label="Control the job">
      {allowed.map((verb) => (
        <button
          key={verb} type="button" title={VERBS[verb].title} class={verb === "finish" || verb === "resume" ? "primary" : undefined}
          disabled={busy !== null} onClick={() => (verb === "cancel" ? setAsking(true) : void ask(verb))}
        >
          <Icon name={VERBS[verb].icon} />{VERBS[verb].word}
        </button>
      ))}
      <Refusal error={error} />
      {asking && (
        <Confirm
          title="Cancel the job without a model?" yes="Cancel the job"
          text="The search stops without making a model. The trees found so far are kept. To keep the best one as a model, finish the job instead."
          onYes={() => void ask("cancel")} onNo={() => setAsking(false)}
        />
      )}
    </div>
  );
}
