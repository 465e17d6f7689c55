// Errors of an upload that are about one column.
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
