// Requests to the API as curl commands and as programs in Python and JavaScript.
import { javascript, json, python, shell } from "./literals.ts";

export const LANGUAGES = { curl: "curl", python: "Python", javascript: "JavaScript" };
export type Language = keyof typeof LANGUAGES;

export interface Call {
  path: string;
  json?: unknown; // the body of a POST request
  file?: string; // or a CSV file as its body
  accept?: string; // the type of the response, by default JSON
  waits?: true; // the response is a job: wait until it has ended
}

export interface Server { url: string; withKey: boolean }

export const KEY = "LITERATI_API_KEY"; // the environment variable of the placeholder
const ENDED = ["SUCCEEDED", "CANCELLED", "FAILED"];

function headersOf(call: Call): Record<string, string> {
  return { ...(call.file && { "Content-Type": "text/csv" }), ...(call.accept && { Accept: call.accept }) };
}

const posts = (call: Call) => call.json !== undefined || call.file !== undefined;

function curl(call: Call, { url, withKey }: Server): string {
  const headers = { ...(call.json !== undefined && { "Content-Type": "application/json" }), ...headersOf(call) };
  return [
    `curl --fail-with-body ${shell(url + call.path)}`,
    ...(withKey ? [`-H "Authorization: Bearer $${KEY}"`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`),
    ...(call.file ? [`--data-binary @${call.file}`] : []),
    ...(call.json !== undefined ? [`-d ${shell(json(call.json))}`] : []),
  ].join(" \\\n  ");
}

function pythonProgram(call: Call, { url, withKey }: Server): string {
  const headers = headersOf(call);
  const named = Object.keys(headers).length > 0;
  const standard = [withKey && "import os", call.waits && "import time", call.file && "from pathlib import Path"].filter(Boolean).sort();
  const client = withKey
    ? ["client = httpx.Client(", `    base_url=${python(url)},`, `    headers={"Authorization": f"Bearer {os.environ['${KEY}']}"},`, "    timeout=60,", ")"]
    : [`client = httpx.Client(base_url=${python(url)}, timeout=60)`];
  const options = [
    `    ${python(call.path)},`,
    ...(call.json !== undefined ? [`    json=${python(call.json, 1)},`] : []),
    ...(call.file ? [`    content=Path(${python(call.file)}).read_bytes(),`] : []),
    ...(named ? [`    headers=${python(headers, 1)},`] : []),
  ];
  const request = options.length === 1 ? `response = client.get(${python(call.path)})` : `response = client.${posts(call) ? "post" : "get"}(\n${options.join("\n")}\n)`;
  const wait = [
    "job = response.json()", `while job["state"] not in (${ENDED.map((state) => python(state)).join(", ")}):`, "    time.sleep(1)",
    '    job = client.get(f"/v1/jobs/{job[\'id\']}").raise_for_status().json()', 'print(job["state"], job["model_id"])',
  ];
  return [
    ...standard, ...(standard.length ? [""] : []), "import httpx", "", ...client, request, "response.raise_for_status()",
    ...(call.waits ? wait : [call.accept ? "print(response.text)" : "print(response.json())"]),
  ].join("\n");
}

function javascriptProgram(call: Call, { url, withKey }: Server): string {
  const key = withKey ? [`Authorization: \`Bearer \${process.env.${KEY}}\``] : [];
  const type: Record<string, string> = call.json !== undefined ? { "Content-Type": "application/json" } : {};
  const headers = Object.entries({ ...type, ...headersOf(call) }).map(([name, value]) => `${javascript({ [name]: value }).slice(2, -2)}`);
  const options = [
    ...(posts(call) ? ['  method: "POST",'] : []),
    ...(headers.length || withKey ? [`  headers: { ${[...headers, ...key].join(", ")} },`] : []),
    ...(call.json !== undefined ? [`  body: JSON.stringify(${javascript(call.json, 1)}),`] : []),
    ...(call.file ? [`  body: await readFile(${javascript(call.file)}),`] : []),
  ];
  const request = `await fetch(${javascript(url + call.path)}${options.length ? `, {\n${options.join("\n")}\n}` : ""})`;
  const again = `await fetch(\`${url}/v1/jobs/\${job.id}\`${withKey ? `, { headers: { ${key[0]} } }` : ""})`;
  const wait = [
    "let job = await response.json();", `while (!${javascript(ENDED)}.includes(job.state)) {`,
    "  await new Promise((resolve) => setTimeout(resolve, 1000));", `  job = await (${again}).json();`, "}", "console.log(job.state, job.model_id);",
  ];
  return [
    ...(call.file ? ['import { readFile } from "node:fs/promises";', ""] : []), `const response = ${request};`,
    "if (!response.ok) throw new Error(await response.text());",
    ...(call.waits ? wait : [`console.log(await response.${call.accept ? "text" : "json"}());`]),
  ].join("\n");
}

const WRITERS: Record<Language, (call: Call, server: Server) => string> = { curl, python: pythonProgram, javascript: javascriptProgram };

/** Returns the source text of a request. */
export function source(call: Call, language: Language, server: Server): string {
  return WRITERS[language](call, server);
}
