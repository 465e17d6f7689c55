// The options of an upload: the role and type of each column, and how a CSV is read.
import type { ColumnType, Dataset, ProblemFix } from "../api/types.ts";

export type Role = "feature" | "target" | "weight" | "drop";

export const ROLES: Record<Role, string> = { feature: "Feature", target: "Target", weight: "Row weight", drop: "Left out" };
export const TYPES: Record<ColumnType, string> = { number: "Number", category: "Category", boolean: "True or false" };

export interface UploadOptions {
  name: string; // "": as the form proposes
  target: string;
  weight: string | null;
  drop: string[];
  types: Record<string, ColumnType>; // only of columns whose type the user chose; the server detects the others
  delimiter: string; // "": detected, like the decimal sign and the encoding
  decimal: string;
  nullValues: string;
  charset: string;
}

export const PLAIN: UploadOptions = {
  name: "", target: "", weight: null, drop: [], types: {}, delimiter: "", decimal: "", nullValues: "", charset: "",
};

export function roleOf(options: UploadOptions, name: string): Role {
  if (name === options.target) return "target";
  if (name === options.weight) return "weight";
  return options.drop.includes(name) ? "drop" : "feature";
}

/** Returns the options with another role for a column. The former target or weight becomes a feature. */
export function withRole(options: UploadOptions, name: string, role: Role): UploadOptions {
  const next = { ...options, drop: options.drop.filter((other) => other !== name), types: { ...options.types } };
  if (next.target === name) next.target = "";
  if (next.weight === name) next.weight = null;
  if (role !== "feature") delete next.types[name];  // classes keep their text
  if (role === "target") next.target = name;
  if (role === "weight") next.weight = name;
  if (role === "drop") next.drop.push(name);
  return next;
}

/** Leaves out all these columns or none of them; the target and the weight stay. */
export function withLeftOut(options: UploadOptions, names: string[], out: boolean): UploadOptions {
  const changed = new Set(names.filter((name) => name !== options.target && name !== options.weight));
  const kept = Object.entries(options.types).filter(([name]) => !out || !changed.has(name));
  const drop = options.drop.filter((name) => !changed.has(name));
  return { ...options, drop: out ? [...drop, ...changed] : drop, types: Object.fromEntries(kept) };
}

export function withType(options: UploadOptions, name: string, type: ColumnType | ""): UploadOptions {
  const types = { ...options.types };
  if (type) types[name] = type;
  else delete types[name];
  return { ...options, types };
}

/** Returns the options with a fix of the server, which has the complete new value of each option that it changes. */
export function withFix(options: UploadOptions, fix: ProblemFix): UploadOptions {
  const next = { ...options };
  for (const [name, value] of Object.entries(fix.options)) {
    const words = Array.isArray(value) ? value.map(String) : [];
    if (name === "drop") next.drop = words;
    else if (name === "types") next.types = typesOf(words);
    else if (name === "null_values") next.nullValues = words.join(",");
    else if (name === "weight") next.weight = value === null ? null : String(value);
    else if (name === "target" || name === "delimiter" || name === "decimal") next[name] = value === null ? "" : String(value);
  }
  return next;
}

function typesOf(words: string[]): UploadOptions["types"] {
  return Object.fromEntries(words.map((word) => [word.slice(0, word.lastIndexOf(":")), word.slice(word.lastIndexOf(":") + 1) as ColumnType]));
}

/** Returns the options that a stored dataset shows; how its CSV was read is not among them. */
export function optionsOf(dataset: Dataset): UploadOptions {
  const features = dataset.columns.filter((column) => column.role === "feature");
  const types = Object.fromEntries(features.map((column) => [column.name, column.type]));
  return { ...PLAIN, target: dataset.target, weight: dataset.weight, drop: [...dataset.dropped], types };
}

/** Returns the query of the upload. */
export function queryOf(options: UploadOptions, parquet: boolean): URLSearchParams {
  const query = new URLSearchParams({ target: options.target, name: options.name });
  if (options.weight) query.set("weight", options.weight);
  for (const name of options.drop) query.append("drop", name);
  for (const [name, type] of Object.entries(options.types)) query.append("types", `${name}:${type}`);
  if (!parquet) {
    if (options.delimiter) query.set("delimiter", options.delimiter);
    if (options.decimal) query.set("decimal", options.decimal);
    if (options.nullValues.trim()) query.set("null_values", options.nullValues);
  }
  return query;
}

/** Returns `wanted`, with a number if another dataset has that name. */
export function freeName(wanted: string, taken: (string | null)[]): string {
  const base = wanted.slice(0, 190).trim() || "table";
  if (!taken.includes(base)) return base;
  const plain = base.replace(/ \d+$/, "");
  for (let number = 2; ; number += 1) if (!taken.includes(`${plain} ${number}`)) return `${plain} ${number}`;
}
