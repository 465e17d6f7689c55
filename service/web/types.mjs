// Writes the types of the API into build/page/api.d.ts of the repository, from openapi/openapi.json.
import openapiTS, { astToString } from "openapi-typescript";
import { mkdir, readFile, writeFile } from "node:fs/promises";

const ROOT = new URL("../../", import.meta.url);
const FOLDER = new URL("build/page/", ROOT);

/** Drops `anyOf` beside `properties`: it restricts values, but the generator would make other types of it. */
function withoutRestrictions(_, value) {
  if (value?.properties) delete value.anyOf;
  return value;
}

const text = await readFile(new URL("openapi/openapi.json", ROOT), "utf8");
const { openapi, info, components } = JSON.parse(text, withoutRestrictions);
const types = await openapiTS({ openapi, info, components }, { rootTypes: true, rootTypesNoSchemaPrefix: true });
await mkdir(FOLDER, { recursive: true });
await writeFile(new URL("api.d.ts", FOLDER), astToString(types));
