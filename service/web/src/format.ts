// Numbers, sizes, times and labels as people write them.
import type { Cell, Label } from "./api/types.ts";

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

export function count(value: number): string {
  return WHOLE.format(value);
}

/** "1 row", "2 rows". */
export function counted(value: number, word: string, plural = `${word}s`): string {
  return `${count(value)} ${value === 1 ? word : plural}`;
}

/** Four digits are enough to look at; whole numbers keep all of theirs. */
export function number(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return WHOLE.format(value);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toPrecision(3).replace(/\.?0+e/, "e").replace("e+", "e");
  return SHORT.format(value);
}

export function percent(share: number, digits = 1): string {
  const value = 100 * share;
  // Not quite all is not all.
  const text = value.toFixed(digits);
  if (value < 100 && Number(text) === 100) return `${(100 - 10 ** -digits).toFixed(digits)} %`;
  return `${Number.isInteger(value) ? value : text} %`;
}

export function bytes(size: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let step = 0;
  while (size >= 1000 && step < units.length - 1) {
    size /= 1000;
    step += 1;
  }
  return step === 0 ? `${size} ${size === 1 ? "byte" : "bytes"}` : `${size < 10 ? size.toFixed(1) : WHOLE.format(size)} ${units[step]}`;
}

export function seconds(value: number): string {
  if (value > 0 && value < 0.001) return "under 1 ms";
  if (value < 1) return `${WHOLE.format(1000 * value)} ms`;
  if (value < 60) return `${value < 10 ? value.toFixed(1) : WHOLE.format(value)} s`;
  const minutes = Math.floor(value / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(value % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function moment(at: string): string {
  const date = new Date(at);
  const today = new Date().toDateString() === date.toDateString();
  return today
    ? date.toLocaleTimeString("en-GB")
    : date.toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
}

/** A class or category as the data spells it. */
export function cell(value: Cell | unknown): string {
  if (value === null || value === undefined) return "missing";
  if (value === "") return "(empty)";
  return String(value);
}

export function label(entry: Label): string {
  if (entry.type === "tuple") return `(${(entry.value as Label[]).map(label).join(", ")})`;
  return cell(entry.value);
}

/** The key under which the API's answers have a class. */
export function labelKey(entry: Label): string {
  return entry.type === "float" && Number.isInteger(entry.value) ? `${String(entry.value)}.0` : String(entry.value);
}

/** The words in a sentence: "a, b and c", at most `most` of them. */
export function listed(words: string[], last = "and", most = 8): string {
  if (words.length > most) return `${words.slice(0, most).join(", ")} ${last} ${words.length - most} more`;
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${last} ${words[words.length - 1]}`;
}

/** Numbers with as many digits as it takes to tell them apart and to be near them. */
export function apart(numbers: number[], span: number): string[] {
  for (let digits = 3; digits < 17; digits += 1) {
    const texts = numbers.map((x) => Number(x.toPrecision(digits)));
    const near = texts.every((text, i) => Math.abs(text - numbers[i]) <= span / 500);
    if (near && new Set(texts).size === new Set(numbers).size) return texts.map((x) => plainNumber(x, true));
  }
  return numbers.map((x) => plainNumber(x, true));
}

function plainNumber(value: number, grouped = false): string {
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential().replace("e+", "e");
  return new Intl.NumberFormat("en", { maximumFractionDigits: 12, useGrouping: grouped && size >= 10000 }).format(value);
}

/** The number itself, without digits that only the binary system knows; no commas, for it stands in sentences. */
export function exact(value: number): string {
  for (let digits = 3; digits < 17; digits += 1) {
    const near = Number(value.toPrecision(digits));
    if (Math.abs(near - value) <= 1e-9 * Math.abs(value)) return plainNumber(near);
  }
  return plainNumber(value);
}
