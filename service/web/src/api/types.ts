// The types of the API. `npm run types` generates them from openapi/openapi.json.
import type { ColumnInfo, Step } from "../../../../build/page/api.d.ts";

export type * from "../../../../build/page/api.d.ts";

export type Cell = Step["value"];
export type ColumnType = ColumnInfo["type"];
