// How much of a file was sent.
import { bytes } from "../format.ts";

export function Progress({ sent, size }: { sent: number; size: number }) {
  const done = sent >= size;
  return (
    <p class="upload-progress">
      <progress aria-label="Upload" max={size} value={done ? undefined : sent} />
      {done ? "The file is sent. The server reads the table…" : `${bytes(sent)} of ${bytes(size)} sent`}
    </p>
  );
}
