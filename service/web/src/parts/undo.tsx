// The message at the foot of the page that offers to undo the last action.
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../state/action.ts";
import { announcement } from "../state/announcement.ts";
import { type Undoable, undoable } from "../state/undo.ts";
import { useSignal } from "../state/signal.ts";
import { IconButton } from "./icons.tsx";
import { Refusal } from "./states.tsx";

const SHOWN = 20_000; // milliseconds; a pointer or the focus on the message keeps it longer

export function Undo() {
  const last = useSignal(undoable);
  return last && <Message key={last.text} last={last} />;
}

function Message({ last }: { last: Undoable }) {
  const { run, busy, error } = useAction();
  const [held, setHeld] = useState(false);
  const close = () => undoable.set(null);
  useEffect(() => {
    if (held || busy || error) return;
    const timer = setTimeout(close, SHOWN);
    return () => clearTimeout(timer);
  }, [last, held, busy, error]);
  const undo = async () => {
    if (!(await run(last.undo))) return;
    announcement.set("Undone.");
    if (undoable.value === last) close();
  };
  return (
    <div
      class="undo" role="group" aria-label="Undo" onPointerEnter={() => setHeld(true)} onPointerLeave={() => setHeld(false)}
      onFocusCapture={() => setHeld(true)} onBlurCapture={() => setHeld(false)}
    >
      <span>{last.text}</span>
      <button type="button" class="small" disabled={busy} onClick={() => void undo()}>Undo</button>
      <IconButton name="close" label="Close the message" onClick={close} />
      <Refusal error={error} />
    </div>
  );
}
