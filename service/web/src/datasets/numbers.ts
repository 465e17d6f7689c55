// Written numbers, read as the server does (service/ingest/number_style.py): a decimal point or comma, with or without thousands
// separators. All cells of a column decide.

export type Sign = "." | ",";
export interface Style { decimal: Sign; thousands: string; pattern: RegExp }

function style(decimal: Sign, thousands: string): Style {
  const [point, separator] = [decimal, thousands].map((sign) => sign.replace(".", "\\."));
  const plain = "0|[1-9]\\d*";
  const whole = thousands ? `[1-9]\\d{0,2}(?:${separator}\\d{3})+|${plain}` : plain;
  return { decimal, thousands, pattern: new RegExp(`^[-+]?(?:(?:${whole})(?:${point}\\d*)?|${point}\\d+)(?:[eE][-+]?\\d+)?$`) };
}

const PLAIN = style(".", "");
const COMMA = style(",", "");
const POINTS = style(",", ".");
const STYLES = [PLAIN, COMMA, style(".", ","), style(".", "'"), style(".", " "), POINTS, style(",", " "), style(",", "'")];
const NAMES: Record<string, string> = { ".": "points", ",": "commas", "'": "apostrophes", " ": "spaces" };

function normalized(word: string): string {
  if (!/[\u00a0\u2009\u202f\u2019`]/.test(word)) return word;
  return word.replace(/[\u00a0\u2009\u202f]/g, " ").replace(/[\u2019`]/g, "'");
}

/** Returns the styles in which every word is a number. */
export function possibleStyles(words: string[]): Style[] {
  if (!words.length || !/^[-+]?[.,]?\d/.test(words[0])) return [];
  const plain = words.map(normalized);
  return STYLES.filter(({ pattern }) => plain.every((word) => pattern.test(word)));
}

/** Returns the style to read with, or null if there is none or if the decimal sign is not clear. */
export function chooseStyle(styles: Style[], given: string, detected: Sign | null): Style | null {
  const thousands = styles.includes(POINTS) && !styles.includes(COMMA); // whole numbers alone fit every style
  if (!given && styles.includes(PLAIN) && !(thousands && detected === ",")) return PLAIN;
  const signs = new Set(styles.map(({ decimal }) => decimal));
  const allowed = (sign: Sign) => (given ? sign === given : signs.size < 2 || sign === detected);
  return styles.find(({ decimal }) => allowed(decimal)) ?? null;
}

export interface Words { words: string[]; styles: Style[] } // the values of a column and the styles in which they are numbers

/** Returns the decimal sign that the columns of a file use, or null if that is not clear. */
export function detectSign(columns: Words[], delimiter: string): Sign | null {
  const chosen = columns.map(({ styles }) => chooseStyle(styles, "", null)).filter((found) => found !== null);
  const signs = new Set(chosen.filter((found) => found !== PLAIN).map(({ decimal }) => decimal));
  if (signs.size === 1) return [...signs][0];
  const points = columns.some(({ words, styles }) => styles.includes(PLAIN) && words.some((word) => word.includes(".")));
  return !signs.size && (points || delimiter === ",") ? "." : null;
}

export function valueOf(word: string, { decimal, thousands }: Style): number {
  const plain = thousands ? normalized(word).replaceAll(thousands, "") : normalized(word);
  return Number(plain.replace(decimal, "."));
}

/** Describes a style other than plain numbers, for a remark. */
export function styleWords({ decimal, thousands }: Style): string {
  const parts = [decimal === "," && "a decimal comma", thousands && `${NAMES[thousands]} between thousands`];
  return parts.filter(Boolean).join(" and ");
}
