// Scores rows of a file whose true classes a column contains.
import { request } from "../api/client.ts";
import type { RowFile } from "../api/rows.ts";
import type { Scored } from "../api/types.ts";
import { cell, count, counted, listed } from "../format.ts";

/** `address` is that of the API for a model or a job, with its query. */
export async function scoreFile(address: string, rows: RowFile, signal: AbortSignal): Promise<Scored> {
  const answer = await request(address, { method: "POST", body: rows.body, slow: true, signal, headers: { "Content-Type": rows.type } });
  return (await answer.json()) as Scored;
}

/** Returns what the user must know about the rows of a file. */
export function rowNotes(scored: Scored): string[] {
  const notes: string[] = [];
  const { rows_without_target: without, rows_of_unknown_classes: foreign, unknown_classes: unknown, target } = scored;
  if (without) notes.push(`${count(without)} of ${counted(scored.rows, "row")} ${without === 1 ? "has" : "have"} no value in ${target} and ${without === 1 ? "is" : "are"} left out.`);
  if (foreign) {
    const names = listed(unknown.map((entry) => `${cell(entry.label)}: ${entry.rows}`));
    notes.push(
      `${counted(foreign, "row")} ${foreign === 1 ? "has" : "have"} a class that the model does not know (${names}). ` +
      `${foreign === 1 ? "It counts as an error" : "They count as errors"}; the log loss, the Brier score and the curves are about the other rows.`,
    );
  }
  return [...notes, ...scored.warnings.map((warning) => warning.message)];
}
