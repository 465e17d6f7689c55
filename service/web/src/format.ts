// Formats numbers, sizes, times and labels.
import type { TreeLabel } from "./api/types.ts";

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const PLAIN = new Intl.NumberFormat("en", { maximumFractionDigits: 12, useGrouping: false });
const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 12 });
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

export function count(value: number): string {
  return WHOLE.format(value);
}

export function orDash(value: number | null | undefined, format: (value: number) => string): string {
  return value == null ? "–" : format(value);
}

/** "1 row", "2 rows". */
export function counted(value: number, word: string, plural = `${word}s`): string {
  return `${count(value)} ${value === 1 ? word : plural}`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Formats a number with four digits; whole numbers keep all digits. */
export function number(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return WHOLE.format(value);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toPrecision(3).replace(/\.?0+e/, "e").replace("e+", "e");
  return SHORT.format(value);
}

export function percent(share: number, digits = 1): string {
  const value = 100 * share;
  // Less than all is never shown as 100 %.
  const text = value.toFixed(digits);
  if (value < 100 && Number(text) === 100) return `${(100 - 10 ** -digits).toFixed(digits)} %`;
  return `${Number.isInteger(value) ? value : text} %`;
}

/** A share in round figures; a small one keeps a decimal. */
export function roughPercent(share: number): string {
  if (share > 0 && share < 0.001) return "less than 0.1 %";
  return percent(share, share < 0.1 ? 1 : 0);
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

/** Formats a limit of seconds in words: "15 seconds", "5 minutes", "1.5 hours". */
export function lasting(value: number): string {
  const [size, word] = value < 120 && value !== 60 ? [1, "second"] : value < 7200 && value !== 3600 ? [60, "minute"] : [3600, "hour"];
  const amount = Number((value / size).toFixed(value / size < 10 ? 1 : 0));
  return `${amount.toLocaleString("en")} ${amount === 1 ? word : `${word}s`}`;
}

/** Formats an estimate of seconds with about two digits. */
export function roughly(value: number): string {
  if (value < 1) return "1 s";
  if (value < 100) return `${Math.ceil(value)} s`;
  if (value < 100 * 60) return `${Math.round(value / 60)} min`;
  if (value < 48 * 3600) return `${Math.round(value / 3600)} h`;
  return value < 1000 * 86400 ? `${Math.round(value / 86400)} days` : "more than 1,000 days";
}

export function moment(at: string): string {
  const date = new Date(at);
  const today = new Date().toDateString() === date.toDateString();
  return today
    ? date.toLocaleTimeString("en-GB")
    : date.toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
}

/** Returns a class or category as in the data. */
export function cell(value: unknown): string {
  return value === "" ? "(empty)" : String(value ?? "missing");
}

export function label(entry: TreeLabel): string {
  return entry.type === "tuple" ? `(${entry.value.map(label).join(", ")})` : cell(entry.value);
}

/** Returns the key of a class in the API's responses. */
export function labelKey(entry: TreeLabel): string {
  return entry.type === "float" && Number.isInteger(entry.value) ? `${String(entry.value)}.0` : String(entry.value);
}

/** Joins words for a sentence: "a, b and c", at most `most` of them. */
export function listed(words: string[], last = "and", most = 8): string {
  if (words.length > most) return `${words.slice(0, most).join(", ")} ${last} ${words.length - most} more`;
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} ${last} ${words[words.length - 1]}`;
}

export function plainNumber(value: number, grouped = false): string {
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential().replace("e+", "e");
  return (grouped && size >= 10000 ? GROUPED : PLAIN).format(value);
}

/** Formats the exact number without binary rounding digits and without commas. */
export function exact(value: number): string {
  for (let digits = 3; digits < 17; digits += 1) {
    const near = Number(value.toPrecision(digits));
    if (Math.abs(near - value) <= 1e-9 * Math.abs(value)) return plainNumber(near);
  }
  return plainNumber(value);
}
