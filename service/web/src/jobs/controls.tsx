// The buttons that control a job: finish, pause, resume, cancel.
import { useState } from "preact/hooks";
import { send } from "../api/client.ts";
import type { Job } from "../api/types.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Icon } from "../parts/icons.tsx";
import { Refusal } from "../parts/states.tsx";
import { useAction } from "../state/action.ts";

const VERBS = {
  finish: { word: "Finish", icon: "flag", title: "Stop now and keep the best tree as a model" },
  pause: { word: "Pause", icon: "pause", title: "Save the search to disk and free its worker" },
  resume: { word: "Resume", icon: "play", title: "Continue the search where it stopped" },
  cancel: { word: "Cancel", icon: "stop", title: "Stop without making a model" },
};
type Verb = keyof typeof VERBS;

export function Controls({ job, onJob }: { job: Job; onJob: (job: Job) => void }) {
  const [asking, setAsking] = useState(false);
  const { run, busy, error } = useAction();
  const allowed = (Object.keys(VERBS) as Verb[]).filter((verb) => job.links[verb] !== undefined);

  const ask = (verb: Verb) => run(async () => {
    setAsking(false);
    onJob(await send<Job>("POST", `/v1/jobs/${job.id}/${verb}`));
  });

  if (!allowed.length && error === undefined) return null;
  return (
    <div class="row controls" role="group" aria-label="Control the job">
      {allowed.map((verb) => (
        <button
          key={verb} type="button" title={VERBS[verb].title} class={verb === "finish" || verb === "resume" ? "primary" : undefined}
          disabled={busy} onClick={() => (verb === "cancel" ? setAsking(true) : void ask(verb))}
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
