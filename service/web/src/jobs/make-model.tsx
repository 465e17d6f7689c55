// Makes a model of the shown tree, also of an earlier one.
import { useState } from "preact/hooks";
import { send } from "../api/client.ts";
import type { Job, Model } from "../api/types.ts";
import { useModelId } from "../models/found.ts";
import { Refusal } from "../parts/states.tsx";
import { useAction } from "../state/action.ts";
import { announcement } from "../state/announcement.ts";

export function MakeModel({ job, revision }: { job: Job; revision: number }) {
  const own = useModelId(job.model_id);
  const [made, setMade] = useState(new Map<number, string>()); // the models of this visit
  const { run, busy, error } = useAction();
  const known = made.get(revision) ?? (job.model_revision === revision ? own : null);
  if (known) return <a class="button small" href={`#/models/${known}`}>Model of this tree</a>;
  const make = () => run(async () => {
    const model = await send<Model>("POST", `/v1/jobs/${job.id}/models`, { revision });
    setMade((old) => new Map(old).set(revision, model.id));
    announcement.set(`The model of tree ${revision} is made.`);
  });
  return (
    <>
      <button type="button" class="small" disabled={busy} onClick={() => void make()}>Make a model of this tree</button>
      <Refusal error={error} />
    </>
  );
}
