// The buttons that control a sweep: finish, pause, resume, cancel, extend and delete.
import { useState } from "preact/hooks";
import { complaintAt, send } from "../api/client.ts";
import type { Sweep } from "../api/types.ts";
import { lasting } from "../format.ts";
import { Confirm, Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { DeleteButton } from "../parts/delete.tsx";
import { Icon } from "../parts/icons.tsx";
import { Refusal } from "../parts/states.tsx";
import { useAction } from "../state/action.ts";
import { sweepEnded } from "./words.ts";

const VERBS = {
  finish: { word: "Finish now", icon: "flag", title: "Stop trying, choose among what is complete, and make a model" },
  pause: { word: "Pause", icon: "pause", title: "Start no more jobs; those that are running continue to their end" },
  resume: { word: "Resume", icon: "play", title: "Start jobs again" },
  extend: { word: "Extend", icon: "plus", title: "Continue with more time or more combinations" },
  cancel: { word: "Cancel", icon: "stop", title: "Stop without a choice or a model" },
};
type Verb = keyof typeof VERBS;

export function SweepControls({ sweep, onSweep, onExtended }: { sweep: Sweep; onSweep: (sweep: Sweep) => void; onExtended: () => void }) {
  const [asking, setAsking] = useState<"cancel" | "extend" | null>(null);
  const { run, busy, error } = useAction();
  const allowed = (Object.keys(VERBS) as Verb[]).filter((verb) => sweep.links[verb] !== undefined);
  const ask = (verb: Verb) => run(async () => {
    setAsking(null);
    onSweep(await send<Sweep>("POST", `/v1/sweeps/${sweep.id}/${verb}`));
  });
  return (
    <div class="row controls" role="group" aria-label="Control the sweep">
      {allowed.map((verb) => (
        <button
          key={verb} type="button" title={VERBS[verb].title} disabled={busy}
          class={verb === "finish" || verb === "resume" ? "primary" : undefined}
          onClick={() => (verb === "cancel" || verb === "extend" ? setAsking(verb) : void ask(verb))}
        >
          <Icon name={VERBS[verb].icon} />{VERBS[verb].word}
        </button>
      ))}
      <Refusal error={error} />
      {sweepEnded(sweep.state) && <DeleteButton kind="sweep" id={sweep.id} />}
      {asking === "cancel" && (
        <Confirm
          title="Cancel the sweep without a model?" yes="Cancel the sweep"
          text="The sweep stops without choosing. The trials that are complete are kept. To get a model of the best one so far, finish the sweep instead."
          onYes={() => void ask("cancel")} onNo={() => setAsking(null)}
        />
      )}
      {asking === "extend" && (
        <Extend
          sweep={sweep} onClose={() => setAsking(null)} onDone={(next) => {
            setAsking(null);
            onSweep(next);
            onExtended();
          }}
        />
      )}
    </div>
  );
}

function Extend({ sweep, onClose, onDone }: { sweep: Sweep; onClose: () => void; onDone: (sweep: Sweep) => void }) {
  const { limits, progress } = sweep;
  const [minutes, setMinutes] = useState(limits.time_limit === null ? "" : "5");
  const [trials, setTrials] = useState(String(limits.max_trials));
  const { run, busy, error } = useAction();
  const extend = () => run(async () => {
    const body = {
      ...(minutes.trim() && { time_limit: 60 * Number(minutes) }),
      ...(Number(trials) !== limits.max_trials && { max_trials: Number(trials) }),
    };
    onDone(await send<Sweep>("POST", `/v1/sweeps/${sweep.id}/extend`, body));
  });
  return (
    <Dialog title="Extend the sweep" onClose={onClose}>
      <form onSubmit={(event) => {
        event.preventDefault();
        void extend();
      }}>
        <p>What is done is kept, and failed jobs are tried again. When the sweep ends, it chooses among all trials.</p>
        <Field
          name="More time" unit="minutes" error={complaintAt(error, "/body/time_limit")}
          help={limits.time_limit === null ? "There is no time limit." : `In addition to the ${lasting(sweep.seconds)} used so far.`}
        >
          <input type="number" min={0} step="any" value={minutes} onInput={(event) => setMinutes(event.currentTarget.value)} />
        </Field>
        <Field
          name="Maximum number of combinations" error={complaintAt(error, "/body/max_trials")}
          help={`So far ${progress.settings} are planned.`}
        >
          <input type="number" min={limits.max_trials} step={1} value={trials} onInput={(event) => setTrials(event.currentTarget.value)} />
        </Field>
        <Refusal error={error} placed={["/body/time_limit", "/body/max_trials"]} />
        <div class="row end">
          <button type="button" onClick={onClose}>Go back</button>
          <button class="primary" disabled={busy}>Extend</button>
        </div>
      </form>
    </Dialog>
  );
}
