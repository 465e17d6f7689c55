// What a scored file says about a tree.
import type { Scored } from "../api/types.ts";
import { counted } from "../format.ts";
import { intervalWords, measured, rightWords } from "../quality/sentences.ts";
import { rowNotes } from "./file.ts";

/** A file that was scored; the server does not keep it. */
export interface ScoredFile { name: string; scored: Scored }

export function FileReport({ file: { name, scored } }: { file: ScoredFile }) {
  const notes = rowNotes(scored);
  const { wrong, weighted } = measured(scored.scores);
  return (
    <div class="file-report" role="status">
      <p class="headline-main">
        <strong title={intervalWords(scored.scores)}>{rightWords(scored.scores)}</strong> of {name}
        {!weighted && `: ${counted(wrong, "row")} ${wrong === 1 ? "is" : "are"} wrong`}.
      </p>
      {notes.length > 0 && <ul class="notes warn">{notes.map((note) => <li>{note}</li>)}</ul>}
    </div>
  );
}
