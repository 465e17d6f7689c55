// Uploads files.
import { ApiError, request } from "../api/client.ts";
import type { Dataset } from "../api/types.ts";
import { withoutOptions } from "./complaints.ts";
import { queryOf, type UploadOptions } from "./options.ts";

/** The files uploaded since the page was opened; the server does not keep them. */
export const uploaded = new Map<string, { file: File; options: UploadOptions }>();

export async function isParquet(file: File): Promise<boolean> {
  return (await file.slice(0, 4).text()) === "PAR1";
}

interface Transfer { signal?: AbortSignal; onSent?: (bytes: number) => void }

/** Uploads the table and returns the dataset. */
export async function upload(file: File, options: UploadOptions, transfer: Transfer = {}): Promise<Dataset> {
  const parquet = await isParquet(file);
  const type = parquet ? "application/vnd.apache.parquet" : `text/csv; charset=${options.charset || "utf-8"}`;
  const answer = await request(`/v1/datasets?${queryOf(options, parquet)}`, {
    method: "POST", body: file, slow: true, headers: { "Content-Type": type }, ...transfer,
  }).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    const errors = error.errors.map((entry) => ({ ...entry, message: withoutOptions(entry.message) }));
    throw new ApiError(error.status, withoutOptions(error.message), errors, error.fixes);
  });
  const dataset = (await answer.json()) as Dataset;
  uploaded.set(dataset.id, { file, options });
  return dataset;
}
