// Uploads files and reads their column names.
import { request } from "../api/client.ts";
import type { ColumnType, Dataset } from "../api/types.ts";
import { firstRows } from "../csv.ts";

const HEAD_BYTES = 1 << 18;
const LIKELY_TARGETS = /^(target|class|label|y|outcome|species|diagnosis|default(ed)?|churn(ed)?|survived)$/i;

export interface UploadOptions {
  target: string;
  weight: string | null;
  drop: string[];
  types: Record<string, ColumnType>;
  delimiter: string;
  decimal: string;
  nullValues: string;
  charset: string;
}

export const PLAIN: UploadOptions = {
  target: "", weight: null, drop: [], types: {}, delimiter: "", decimal: "", nullValues: "", charset: "utf-8",
};

/** The files uploaded since the page was opened; the server does not keep them. */
export const uploaded = new Map<string, { file: File; options: UploadOptions }>();

export async function isParquet(file: File): Promise<boolean> {
  return (await file.slice(0, 4).text()) === "PAR1";
}

/** Reads the column names without sending the file. */
export async function columnNames(file: File, charset = "utf-8"): Promise<string[]> {
  if (await isParquet(file)) {
    const { parquetMetadataAsync, parquetSchema } = await import("hyparquet");
    const slice = (start: number, end?: number) => file.slice(start, end).arrayBuffer();
    const schema = parquetSchema(await parquetMetadataAsync({ byteLength: file.size, slice }));
    return schema.children.map((child) => child.element.name);
  }
  const bytes = await file.slice(0, HEAD_BYTES).arrayBuffer();
  const [names = []] = firstRows(new TextDecoder(charset).decode(bytes), 1);
  return names.map((name, i) => name.trim() || `column_${i + 1}`);
}

export function likelyTarget(names: string[]): string {
  return names.find((name) => LIKELY_TARGETS.test(name)) ?? names[names.length - 1] ?? "";
}

/** Uploads the table and returns the dataset. */
export async function upload(file: File, options: UploadOptions): Promise<Dataset> {
  const parquet = await isParquet(file);
  const query = new URLSearchParams({ target: options.target, name: file.name.replace(/\.[^.]*$/, "").slice(0, 200) });
  if (options.weight) query.set("weight", options.weight);
  for (const name of options.drop) query.append("drop", name);
  for (const [name, type] of Object.entries(options.types)) query.append("types", `${name}:${type}`);
  if (!parquet) {
    if (options.delimiter) query.set("delimiter", options.delimiter);
    if (options.decimal) query.set("decimal", options.decimal);
    if (options.nullValues.trim()) query.set("null_values", options.nullValues);
  }
  const type = parquet ? "application/vnd.apache.parquet" : `text/csv; charset=${options.charset}`;
  const answer = await request(`/v1/datasets?${query}`, { method: "POST", body: file, slow: true, headers: { "Content-Type": type } });
  const dataset = (await answer.json()) as Dataset;
  uploaded.set(dataset.id, { file, options });
  return dataset;
}
