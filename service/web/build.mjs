// Bundles src/ into assets/ and index.html, and records in built.json what was built from what.
// `node build.mjs [folder]` writes into another folder: a test compares it with what is committed.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = process.argv[2] ?? HERE;
const ASSETS = join(OUT, "assets");
const SOURCES = ["build.mjs", "package-lock.json", "package.json", "src", "tsconfig.json"];
const SHARED = {
  bundle: true, minify: true, target: "es2022", charset: "utf8", legalComments: "none",
  absWorkingDir: HERE, outdir: ASSETS, entryNames: "[name]-[hash]", metafile: true, logLevel: "warning",
};

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");

async function filesBelow(path) {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** One digest over the names and contents of all sources. */
async function digestOfSources() {
  const nested = await Promise.all(SOURCES.map((name) =>
    name.includes(".") ? [join(HERE, name)] : filesBelow(join(HERE, name))));
  const files = nested.flat().map((path) => [relative(HERE, path).split(sep).join("/"), path]);
  files.sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = await Promise.all(files.map(async ([name, path]) => [`${name}\0`, await readFile(path), "\0"]));
  return sha256(...parts.flat());
}

/** The licences of what is bundled ask to travel with it. */
async function licences(inputs) {
  const names = new Set(inputs.map((path) => /node_modules\/([^/]+)\//.exec(path)?.[1]).filter(Boolean));
  const texts = [...names].sort().map(async (name) => {
    const folder = join(HERE, "node_modules", name);
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name}\n\n${(await readFile(join(folder, file), "utf8")).trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${"-".repeat(72)}\n\n`);
}

const previous = await readFile(join(OUT, "built.json"), "utf8").then(JSON.parse, () => ({ files: {} }));
await Promise.all(Object.keys(previous.files).map((name) => rm(join(OUT, name), { force: true })));
await mkdir(ASSETS, { recursive: true });

const results = await Promise.all([
  build({ ...SHARED, entryPoints: ["src/main.tsx"], format: "esm", splitting: true, chunkNames: "part-[hash]",
    jsx: "automatic", jsxImportSource: "preact", loader: { ".csv": "file" }, assetNames: "[name]-[hash]", publicPath: "/assets" }),
  // A classic script: it runs before the first paint.
  build({ ...SHARED, entryPoints: ["src/theme.ts"], format: "iife" }),
]);
const outputs = results.flatMap((result) => Object.keys(result.metafile.outputs)).map((path) => basename(path));
const built = (pattern) => `/assets/${outputs.find((name) => pattern.test(name))}`;

const template = await readFile(join(HERE, "src", "index.html"), "utf8");
const page = template
  .replace("{{theme}}", built(/^theme-.*\.js$/))
  .replace("{{script}}", built(/^main-.*\.js$/))
  .replace("{{style}}", built(/^main-.*\.css$/));
await writeFile(join(OUT, "index.html"), page);
const inputs = results.flatMap((result) => Object.keys(result.metafile.inputs));
await writeFile(join(ASSETS, "licences.txt"), await licences(inputs));

const names = ["index.html", "assets/licences.txt", ...outputs.map((name) => `assets/${name}`)].sort();
const files = {};
for (const name of names) files[name] = sha256(await readFile(join(OUT, name)));
const record = { sources: await digestOfSources(), files };
await writeFile(join(OUT, "built.json"), `${JSON.stringify(record, null, 2)}\n`);
