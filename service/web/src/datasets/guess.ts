// Guesses the type of each column and which one to predict from the first rows, as the server does from all rows.
import { count } from "../format.ts";
import { chooseStyle, detectSign, possibleStyles, type Sign, type Style, styleWords, valueOf, type Words } from "./numbers.ts";
import type { Kind, Start } from "./start.ts";

const LIKELY_TARGETS = /^(target|class|label|y|outcome|species|diagnosis|default(ed)?|churn(ed)?|survived)$/i;
const DATE = /^((\d{4}([-/.])\d{1,2}\3\d{1,2}|\d{1,2}([-/.])\d{1,2}\4\d{4}|\d{1,2}\/\d{1,2}\/\d{2})([ T]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)$/;
const DATE_SHARE = 0.9; // the rest may be words for missing
const BOOLEANS = new Set(["true", "True", "TRUE", "false", "False", "FALSE", "0", "1"]);
const ID_NAME = /^((.*[_\W])?(id|ids|uuid|guid|key|index|rowid|row_?number)|.*[a-z]Id|__index_level_\d+__|column_1)$/i;
const FEW_ROWS = 20; // too few to recognise an id
const MANY_CLASSES = 50;

export interface Guess {
  name: string;
  kind: Kind;
  values: string[]; // the distinct ones among the first rows
  idLike: boolean;
  fractional: boolean; // numbers that cannot be classes
  unclear: boolean; // numbers whose decimal sign is not clear
  remark?: string;
}

export interface Guesses { columns: Guess[]; decimal: string } // `decimal` in words, for the form

export function guessColumns(start: Start, given: string): Guesses {
  const read = start.names.map((_, i) => {
    const words = [...new Set(start.rows.map((row) => row[i]).filter((cell) => cell !== null))];
    return { words, styles: start.csv ? possibleStyles(words) : [] };
  });
  const sign = start.csv ? detectSign(read, start.csv.delimiter) : ".";
  const columns = start.names.map((name, i) => {
    const found = start.kinds ? declared(start.kinds[i], read[i].words) : fromText(read[i], given, sign);
    return described(name, read[i].words, found, start, start.rows.some((row) => row[i] === null));
  });
  return { columns, decimal: signWords(columns, sign) };
}

function signWords(columns: Guess[], sign: Sign | null): string {
  const unclear = columns.find((column) => column.unclear);
  if (unclear) return `not clear in ${unclear.name}`;
  if (!columns.some((column) => column.fractional)) return "no decimals found";
  return sign === null ? "differs between columns" : sign === "," ? "comma" : "point";
}

interface Found { kind: Kind; style?: Style | null; remark?: string; unclear?: boolean }

const UNCLEAR = "Its commas may be decimal signs or thousands separators, so it is read as text. Choose the decimal sign among the CSV options.";
const DATES = "Dates and times are left out by default. As a category, each date is a value of its own.";

function declared(kind: Kind, words: string[]): Found {
  if (kind === "category" && areDates(words)) return { kind: "date", remark: DATES };
  if (kind === "date") return { kind, remark: DATES };
  if (kind === "unsupported") return { kind, remark: "A column of this type cannot be used." };
  return kind === "number" ? { kind, style: possibleStyles(["0"])[0] } : { kind };
}

function fromText({ words, styles }: Words, given: string, sign: Sign | null): Found {
  if (!words.length) return { kind: "number" };
  const style = chooseStyle(styles, given, sign);
  if (style) return { kind: "number", style, remark: styleWords(style) && `Read with ${styleWords(style)}.` };
  if (words.every((word) => BOOLEANS.has(word))) return { kind: "boolean" };
  if (areDates(words)) return { kind: "date", remark: DATES };
  if (styles.length) return { kind: "category", remark: UNCLEAR, unclear: true };
  const zeros = words.every((word) => /^[-+]?\d+$/.test(word));
  return { kind: "category", remark: zeros ? "Whole numbers with leading zeros are read as text." : "" };
}

function areDates(words: string[]): boolean {
  return words.length > 0 && words.filter((word) => DATE.test(word)).length >= DATE_SHARE * words.length;
}

function described(
  name: string, values: string[], { kind, style, remark, unclear = false }: Found, { rows, complete }: Start, gaps: boolean,
): Guess {
  const numbers = kind === "number" && style ? values.map((word) => valueOf(word, style)) : [];
  const enough = rows.length >= FEW_ROWS;
  const apart = enough && values.length === rows.length;
  const counter = numbers.length > 0 && Math.max(...numbers) - Math.min(...numbers) === rows.length - 1;
  const idLike = apart && (kind === "category" || counter || (numbers.length > 0 && ID_NAME.test(name)));
  const among = complete ? "every row" : `each of the first ${count(rows.length)} rows`;
  const more = [
    remark,
    idLike && `It is different in ${among} and looks like an id, which does not help to predict other rows.`,
    enough && values.length === 0 && `It is empty in ${among}.`,
    enough && values.length === 1 && !gaps && `It has the same value in ${among}.`,
  ];
  return {
    name, kind, values, idLike, unclear, fractional: numbers.some((value) => value % 1 !== 0), remark: more.filter(Boolean).join(" ") || undefined,
  };
}

function isUsable({ kind }: Guess): boolean {
  return kind !== "date" && kind !== "unsupported";
}

/** Returns whether the values of a column can be classes. */
function canBeTarget(column: Guess): boolean {
  const { fractional, idLike, values } = column;
  return isUsable(column) && !fractional && !idLike && values.length > 1 && values.length <= MANY_CLASSES;
}

/** Returns the column to predict: one with a usual name, or the last one that can have classes. */
export function likelyTarget(columns: Guess[]): string {
  const named = columns.find((column) => LIKELY_TARGETS.test(column.name));
  const words = ({ kind }: Guess) => kind === "category" || kind === "boolean"; // if no rows could be read
  return (named ?? columns.findLast(canBeTarget) ?? columns.findLast(words) ?? columns.findLast(isUsable))?.name ?? "";
}

/** Returns other columns that can be the target, the likeliest first. */
export function otherTargets(columns: Guess[], target: string): string[] {
  const possible = columns.filter((column) => column.name !== target && canBeTarget(column));
  return possible.reverse().sort((a, b) => a.values.length - b.values.length).map((column) => column.name);
}
