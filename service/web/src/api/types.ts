// The types of the API. `npm run types` generates them from openapi/openapi.json.
import type { ColumnInfo } from "../../../../build/page/api.d.ts";

export type * from "../../../../build/page/api.d.ts";

export type ColumnType = ColumnInfo["type"];
