// The message at the foot of the page, which mostly offers to undo the last action.
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../state/action.ts";
import { announcement } from "../state/announcement.ts";
import { useSignal } from "../state/signal.ts";
import { message, type Message, undone } from "../state/undo.ts";
import { IconButton } from "./icons.tsx";
import { Refusal } from "./states.tsx";

const SHOWN = 20_000; // milliseconds; a pointer or the focus on the message keeps it longer

export function FootMessage() {
  const last = useSignal(message);
  return last && <Shown key={last.text} last={last} />;
}

function Shown({ last }: { last: Message }) {
  const { run, busy, error } = useAction();
  const [held, setHeld] = useState(false);
  const close = () => message.set(null);
  useEffect(() => {
    if (held || busy || error || !last.undo) return;
    const timer = setTimeout(close, SHOWN);
    return () => clearTimeout(timer);
  }, [last, held, busy, error]);
  const undo = async (act: () => Promise<unknown>) => {
    const succeeded = await run(act);
    undone.set(undone.value + 1); // a part of it may have succeeded
    if (!succeeded) return;
    announcement.set("Undone.");
    if (message.value === last) close();
  };
  return (
    <div
      class="undo" role="group" aria-label={last.undo ? "Undo" : "Message"} onPointerEnter={() => setHeld(true)} onPointerLeave={() => setHeld(false)}
      onFocusCapture={() => setHeld(true)} onBlurCapture={() => setHeld(false)}
    >
      <span>{last.text}</span>
      {last.undo && <button type="button" class="small" disabled={busy} onClick={() => void undo(last.undo!)}>Undo</button>}
      <IconButton name="close" label="Close the message" onClick={close} />
      <Refusal error={error} />
    </div>
  );
}
