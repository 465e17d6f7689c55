// Reads the first rows of a file in the browser, before it is sent.
import { delimiterOf, firstRows } from "../csv.ts";
import type { UploadOptions } from "./options.ts";
import { isParquet } from "./upload.ts";

const HEAD_BYTES = 1 << 18;
export const MAX_ROWS = 1000; // that are read
const MARKS: Record<string, string> = { "255,254": "utf-16le", "254,255": "utf-16be" }; // the first bytes of UTF-16
// literati.data.words.NULL_WORDS
const NULL_WORDS = [
  "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN",
];

export type Kind = "number" | "category" | "boolean" | "date" | "unsupported";

export interface Start {
  names: string[];
  rows: (string | null)[][]; // null: missing
  complete: boolean; // these are all rows
  csv?: { delimiter: string; charset: string }; // how the text was read
  kinds?: Kind[]; // as a Parquet file declares them
  remark?: string;
}

export async function readStart(file: File, options: Pick<UploadOptions, "charset" | "delimiter" | "nullValues">): Promise<Start> {
  if (await isParquet(file)) return (await import("./parquet.ts")).readParquet(file);
  const bytes = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const charset = options.charset || charsetOf(bytes);
  const order = charset === "utf-16" ? MARKS[bytes.slice(0, 2).join()] : undefined;
  const text = new TextDecoder(order ?? charset).decode(bytes, { stream: true });
  if (text.includes("\0")) throw new Error("This file is not text.");
  const delimiter = (options.delimiter === "tab" ? "\t" : options.delimiter) || delimiterOf(text);
  const [head = [], ...rows] = firstRows(text, MAX_ROWS + 1, delimiter);
  const whole = file.size <= HEAD_BYTES;
  if (!whole && rows.length < MAX_ROWS) rows.pop(); // it may be cut off
  await nextTask();
  const missing = new Set(["", ...(options.nullValues.trim() ? options.nullValues.split(",").map((word) => word.trim()) : NULL_WORDS)]);
  const cells = rows.map((row) => head.map((_, i) => {
    const word = (row[i] ?? "").trim();
    return missing.has(word) ? null : word;
  }));
  const names = head.map((name, i) => name.trim() || `column_${i + 1}`);
  return { names, rows: cells, complete: whole && rows.length < MAX_ROWS, csv: { delimiter, charset } };
}

/** Lets the browser draw, so that no task is long. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve));
}

/** Returns the likely encoding of a text: UTF-8 unless it has bytes that UTF-8 does not. */
function charsetOf(bytes: Uint8Array): string {
  if (MARKS[bytes.slice(0, 2).join()]) return "utf-16";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}
