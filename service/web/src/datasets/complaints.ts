// The messages of the server about an upload.
import { ApiError, pointerPart } from "../api/client.ts";
import type { FieldProblem } from "../api/types.ts";

function isAbout({ pointer }: FieldProblem, name: string): boolean {
  const column = pointerPart(name);
  return pointer === `/body/columns/${column}` || (pointer.startsWith("/body/rows/") && pointer.split("/").slice(4).join("/") === column);
}

/** Returns the messages about a column or about its cells. */
export function columnComplaint(error: unknown, name: string): string | undefined {
  const found = error instanceof ApiError ? error.errors.filter((entry) => isAbout(entry, name)) : [];
  return found.map((entry) => entry.message).join(" ") || undefined;
}

/** Returns the pointers of the errors that are shown at their columns. */
export function atColumns(error: unknown, names: string[]): string[] {
  if (!(error instanceof ApiError)) return [];
  return error.errors.filter((entry) => names.some((name) => isAbout(entry, name))).map((entry) => entry.pointer);
}

const OPTION = /\b(drop|types|decimal|delimiter|target|charset)=|`(drop|types|delimiter)`|\bContent-Type\b/;

/** Returns a message without advice about options of the API, which the page has as controls. */
export function withoutOptions(message: string): string {
  const sentences = message.replace(/\bnull_values\b/, "“Words for a missing cell”").split(/(?<=\.) (?=[A-Z])/).map((sentence) => {
    const clauses = sentence.split("; ");
    const plain = clauses.filter((clause) => !OPTION.test(clause));
    return plain.length === clauses.length ? sentence : plain.length ? `${plain.join("; ").replace(/\.$/, "")}.` : "";
  });
  return sentences.filter(Boolean).join(" ") || message;
}
