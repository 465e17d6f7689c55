// The types of the API. `npm run types` generates them from openapi/openapi.json.
import type * as Api from "../../../../build/page/api.d.ts";

export type * from "../../../../build/page/api.d.ts";

export type Cell = Api.Step["value"];
export type ColumnType = Api.ColumnInfo["type"];

interface Noted { notes?: string | null }
export interface JobSummary extends Api.JobSummary, Noted { parameters?: Api.Parameters; validation?: Api.Job["validation"] }
export interface ModelSummary extends Api.ModelSummary { parameters?: Api.Parameters; tags?: Record<string, string> }
export interface SweepSummary extends Api.SweepSummary, Noted { space?: Api.Space }
