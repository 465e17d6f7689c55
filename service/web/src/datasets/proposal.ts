// What the form proposes for a file.
import type { Dataset, DatasetSummary } from "../api/types.ts";
import { type Guess, likelyTarget } from "./guess.ts";
import { freeName, type UploadOptions } from "./options.ts";
import type { Start } from "./start.ts";

/** Returns the options for a file that was read: if it has other columns than before, with a proposed target and without dates. */
export function proposed(options: UploadOptions, before: Start | undefined, start: Start, columns: Guess[], changing: boolean): UploadOptions {
  if (before && before.names.join("\0") === start.names.join("\0")) return options;
  const has = (name: string | null) => name !== null && start.names.includes(name);
  const target = has(options.target) ? options.target : likelyTarget(columns);
  const unusable = columns.filter(({ kind, name }) => (kind === "date" || kind === "unsupported") && name !== target).map(({ name }) => name);
  if (!changing) return { ...options, target, weight: null, drop: unusable, types: {} };
  // A type that the server detects anyway is not sent.
  const guessed = new Map(columns.map(({ name, kind }) => [name, kind]));
  const types = Object.entries(options.types).filter(([name, type]) => has(name) && guessed.get(name) !== type);
  return {
    ...options, target, weight: has(options.weight) ? options.weight : null, drop: options.drop.filter(has), types: Object.fromEntries(types),
  };
}

/** Returns a name that tells the dataset from the others. */
export function usualName(file: File, options: UploadOptions, others: DatasetSummary[], base: Dataset | undefined): string {
  const name = file.name.replace(/\.[^.]*$/, "");
  // The same file with the same target may be the same dataset, which the server then finds again.
  if (!base) return freeName(name, others.filter((item) => item.bytes !== file.size || item.target !== options.target).map((item) => item.name));
  const changed = options.target && options.target !== base.target ? `, target ${options.target}` : "";
  return freeName(`${base.name ?? name}${changed}`, others.map((item) => item.name));
}
