// Files of rows as bodies of requests: CSV, TSV, Parquet and Arrow.

export const ROW_FILES = ".csv,.tsv,.txt,.parquet,.arrow,.feather,text/csv,text/tab-separated-values,application/vnd.apache.parquet";

const CSV = "text/csv";
const TSV = "text/tab-separated-values";

/** The content types of binary files, by the bytes that they begin with. */
const MAGIC: Record<string, string> = {
  PAR1: "application/vnd.apache.parquet",
  ARROW1: "application/vnd.apache.arrow.file",
};

/** Rows to predict or to score, as they are sent. */
export interface RowFile {
  name: string;
  body: Blob;
  type: string;
}

export async function rowFile(file: File): Promise<RowFile> {
  const head = await file.slice(0, 6).text();
  const magic = Object.keys(MAGIC).find((sign) => head.startsWith(sign));
  return { name: file.name, body: file, type: magic ? MAGIC[magic] : /\.tsv$/i.test(file.name) ? TSV : CSV };
}

/** Rows with their text, which binary files do not have. */
export interface ReadRows extends RowFile { text?: string }

export async function readRows(file: File): Promise<ReadRows> {
  const rows = await rowFile(file);
  return rows.type === CSV || rows.type === TSV ? { ...rows, text: await file.text() } : rows;
}

export function pastedRows(text: string): ReadRows {
  return { name: "rows.csv", body: new Blob([text]), type: CSV, text };
}
