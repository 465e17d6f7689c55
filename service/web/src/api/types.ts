// The types of the API. `npm run types` generates them from openapi/openapi.json.
import type { ColumnInfo, ScoresInput as Generated, Step } from "../../../../build/page/api.d.ts";

export type * from "../../../../build/page/api.d.ts";

export type Cell = Step["value"];
export type ColumnType = ColumnInfo["type"];

export interface OperatingPoint { probability: number; positives: number; negatives: number }
export type ScoresInput = Generated & { operating_points?: OperatingPoint[] | null };
