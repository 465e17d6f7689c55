// Values as source text of curl commands, Python and JavaScript.

const MAX_WIDTH = 100; // characters of a line

interface Style { none: string; yes: string; no: string; indent: string; key: (name: string) => string }

const PYTHON: Style = { none: "None", yes: "True", no: "False", indent: "    ", key: (name) => JSON.stringify(name) };
const JSON_STYLE: Style = { none: "null", yes: "true", no: "false", indent: "  ", key: (name) => JSON.stringify(name) };
const JAVASCRIPT: Style = { ...JSON_STYLE, key: (name) => (/^[a-zA-Z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)) };

/** Writes a value on one line if it fits behind `depth` steps of indentation, else with an entry on each line. */
function written(value: unknown, style: Style, depth: number): string {
  if (value === null || value === undefined) return style.none;
  if (typeof value === "boolean") return value ? style.yes : style.no;
  if (typeof value !== "object") return JSON.stringify(value);
  const list = Array.isArray(value);
  const entries = (inner: number) => list
    ? value.map((each) => written(each, style, inner))
    : Object.entries(value).map(([name, each]) => `${style.key(name)}: ${written(each, style, inner)}`);
  const [open, close] = list ? ["[", "]"] : style === JAVASCRIPT ? ["{ ", " }"] : ["{", "}"];
  const flat = entries(Infinity);
  const line = `${open}${flat.join(", ")}${close}`;
  if (!flat.length) return list ? "[]" : "{}";
  if (depth === Infinity || line.length + depth * style.indent.length <= MAX_WIDTH) return line;
  const inside = style.indent.repeat(depth + 1);
  const last = style === JSON_STYLE ? "" : ",";
  return `${open.trim()}\n${entries(depth + 1).map((entry) => inside + entry).join(",\n")}${last}\n${style.indent.repeat(depth)}${close.trim()}`;
}

export const python = (value: unknown, depth = 0): string => written(value, PYTHON, depth);
export const javascript = (value: unknown, depth = 0): string => written(value, JAVASCRIPT, depth);
export const json = (value: unknown): string => written(value, JSON_STYLE, 0);

/** Quotes a text for a shell. */
export function shell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
