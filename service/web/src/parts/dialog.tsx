// Modal dialogs with the browser's dialog element.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

export function Dialog(
  { title, onClose, children }: { title: string; onClose?: () => void; children: ComponentChildren },
) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  const cancel = (event: Event) => {
    event.preventDefault();
    onClose?.();
  };
  /** The browser closes a dialog at a second Escape, even if the first one was prevented. */
  const closed = () => {
    const dialog = element.current;
    if (!dialog?.isConnected || dialog.open) return;
    if (onClose) onClose();
    else dialog.showModal();
  };
  return (
    <dialog ref={element} aria-labelledby={id} onCancel={cancel} onClose={closed}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

export function Confirm(
  { title, text, yes, onYes, onNo }: { title: string; text: string; yes: string; onYes: () => void; onNo: () => void },
) {
  return (
    <Dialog title={title} onClose={onNo}>
      <p>{text}</p>
      <div class="row end">
        <button type="button" onClick={onNo}>Go back</button>
        <button type="button" class="danger" onClick={onYes}>{yes}</button>
      </div>
    </Dialog>
  );
}
