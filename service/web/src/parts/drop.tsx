// A drop zone for files with a file chooser.
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";

export function DropZone(
  { accept, label, onFile, children }:
  { accept: string; label: string; onFile: (file: File) => void; children?: ComponentChildren },
) {
  const id = useId();
  const [over, setOver] = useState(false);
  const take = (files: FileList | null | undefined) => {
    if (files?.[0]) onFile(files[0]);
  };
  return (
    <div
      class={over ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <input
        type="file" id={id} class="hidden-input" accept={accept}
        onChange={(event) => {
          take(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
      <label for={id} class="button">{label}</label>
      {children}
    </div>
  );
}
