// Reads the columns and the first rows of a Parquet file. Loaded only for such a file, with hyparquet.
import { parquetMetadataAsync, parquetRead, parquetSchema, type RowGroup, type SchemaTree } from "hyparquet";
import { listed } from "../format.ts";
import { type Kind, MAX_ROWS, type Start } from "./start.ts";

const MAX_BYTES = 4 << 20; // of the columns that are read for the first rows
const READABLE = new Set<string>(["UNCOMPRESSED", "SNAPPY"]);
const DATES = /^(DATE|TIME|TIMESTAMP)/;

export async function readParquet(file: File): Promise<Start> {
  const source = { byteLength: file.size, slice: (start: number, end?: number) => file.slice(start, end).arrayBuffer() };
  const metadata = await parquetMetadataAsync(source);
  const columns = parquetSchema(metadata).children;
  const found: Start = { names: columns.map(({ element }) => element.name), rows: [], complete: false, kinds: columns.map(kindOf) };
  const [group] = metadata.row_groups;
  if (!group) return found;
  const remark = whyUnread(group);
  if (remark) return { ...found, remark };
  await parquetRead({
    file: source, metadata, rowEnd: Math.min(MAX_ROWS, Number(group.num_rows)),
    onComplete: (rows) => void (found.rows = rows.map((row) => row.map(text))),
  });
  return { ...found, complete: Number(metadata.num_rows) === found.rows.length };
}

function kindOf({ element, children }: SchemaTree): Kind {
  const meaning = element.logical_type?.type ?? element.converted_type ?? "";
  if (children.length || element.repetition_type === "REPEATED") return "unsupported";
  if (DATES.test(meaning) || element.type === "INT96") return "date";
  if (element.type === "BOOLEAN") return "boolean";
  if (["STRING", "UTF8", "ENUM", "JSON"].includes(meaning)) return "category";
  return element.type?.endsWith("BYTE_ARRAY") && !["DECIMAL", "FLOAT16"].includes(meaning) ? "unsupported" : "number";
}

/** Returns why the first rows are not read, or "" if they can be. */
function whyUnread({ columns }: RowGroup): string {
  const codecs = new Set(columns.map((column) => column.meta_data?.codec ?? "UNCOMPRESSED"));
  const others = [...codecs].filter((codec) => !READABLE.has(codec));
  if (others.length) return `The first rows are not shown, because the file is compressed with ${listed(others)}. The server can read it.`;
  const size = columns.reduce((sum, column) => sum + Number(column.meta_data?.total_uncompressed_size ?? 0), 0);
  return size > MAX_BYTES ? "The first rows are not shown, because the file stores very many rows in one block. The server can read it." : "";
}

function text(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString().replace(/T00:00:00\.000Z$/, "").replace("T", " ").replace(/(\.000)?Z$/, "");
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === "object") return JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? Number(inner) : inner));
  return Number.isNaN(value) ? null : String(value);
}
