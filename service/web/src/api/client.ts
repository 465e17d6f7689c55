// Sends requests to the API and handles keys, problems and lost connections.
import { lost, markConnected, markLost } from "../state/connection.ts";
import { anotherKey, currentKey } from "../state/session.ts";
import { fetchWithProgress } from "./progress.ts";
import type { DeletedRecord, FieldProblem, ProblemDetails, ProblemFix } from "./types.ts";

/** The server rejected the request; its message is for users. */
export class ApiError extends Error {
  constructor(
    readonly status: number, detail: string, readonly errors: FieldProblem[], readonly fixes: ProblemFix[],
    readonly deleted?: DeletedRecord | null, // what was not found can be restored
  ) {
    super(detail);
  }
}

/** There was no response. */
export class LostError extends Error {
  constructor() {
    super("The server does not respond.");
  }
}

interface Options {
  method?: string;
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  slow?: boolean; // no timeout, for uploads
  onSent?: (bytes: number) => void; // told while the body is sent
}

const TIMEOUT = 20_000; // milliseconds until a response must have started
const GATEWAY_ERRORS = [502, 504]; // a proxy does not reach the server

/**
 * Returns the response of any status; after 401 it asks for a key and tries again. While the connection is lost, only what the user
 * changes is sent. Nothing is loaded: one loop polls the server, and views load again when it responds.
 */
async function ask(path: string, { slow, onSent, ...options }: Options): Promise<Response> {
  if (lost.value && (options.method ?? "GET") === "GET") throw new LostError();
  for (;;) {
    const key = currentKey();
    const headers = { Accept: "application/json", ...options.headers, ...(key && { Authorization: `Bearer ${key}` }) };
    const timeout = new AbortController();
    const timer = slow ? 0 : setTimeout(() => timeout.abort(), TIMEOUT);
    const signal = AbortSignal.any([timeout.signal, ...(options.signal ? [options.signal] : [])]);
    let answer: Response;
    try {
      const message = { ...options, signal, headers };
      answer = onSent ? await fetchWithProgress(path, message, onSent) : await fetch(path, { ...message, cache: "no-store" });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      markLost();
      throw new LostError();
    } finally {
      clearTimeout(timer);
    }
    if (GATEWAY_ERRORS.includes(answer.status)) {
      markLost();
      throw new LostError();
    }
    markConnected();
    if (answer.status !== 401) return answer;
    await anotherKey(key);
  }
}

export async function request(path: string, options: Options = {}): Promise<Response> {
  const answer = await ask(path, options);
  if (answer.ok || answer.status === 304) return answer;
  const problem = (await answer.json().catch(() => null)) as Partial<ProblemDetails> | null;
  const detail = problem?.detail ?? `The server responded with status ${answer.status}.`;
  throw new ApiError(answer.status, detail, problem?.errors ?? [], problem?.fixes ?? [], problem?.deleted);
}

export async function get<Body>(path: string, signal?: AbortSignal): Promise<Body> {
  return (await request(path, { signal })).json() as Promise<Body>;
}

/** Like `get`, but undefined if the record does not exist (any more). */
export async function getIfFound<Body>(path: string, signal?: AbortSignal): Promise<Body | undefined> {
  return ifFound(get<Body>(path, signal));
}

/** Returns what the request returns, or undefined if there is no such record. */
export async function ifFound<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  return asked.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
}

export async function send<Body>(method: string, path: string, body?: unknown, headers = {}): Promise<Body> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const type: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
  const answer = await request(path, { method, ...json, headers: { ...type, ...headers } });
  return (answer.status === 204 ? null : await answer.json()) as Body;
}

/** Returns whether the same request may succeed later. */
export function temporary(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429;
  return error instanceof LostError || error instanceof TypeError;
}

export const MAX_LISTED = 500;

/** Loads the pages of a list, up to `most` items. `path` may have a query. */
export async function getAll<Item>(path: string, signal?: AbortSignal, most = MAX_LISTED): Promise<Item[]> {
  const items: Item[] = [];
  const start = `${path}${path.includes("?") ? "&" : "?"}page_size=100`;
  for (let token: string | null = ""; token !== null && items.length < most; ) {
    const more: string = token && `&page_token=${encodeURIComponent(token)}`;
    const page: { items: Item[]; next_page_token: string | null } = await get(`${start}${more}`, signal);
    items.push(...page.items);
    token = page.next_page_token;
  }
  return items;
}

/** Returns whether a pointer such as `/body/parameters/max_depth` is at `place` or below it. */
export function isAt(pointer: string, place: string): boolean {
  return pointer === place || pointer.startsWith(`${place}/`);
}

/** Returns the messages about a part of the request. */
export function complaintAt(error: unknown, place: string): string | undefined {
  const found = error instanceof ApiError ? error.errors.filter((entry) => isAt(entry.pointer, place)) : [];
  return found.length ? found.map((entry) => entry.message).join(" ") : undefined;
}

export function pointerPart(text: string): string {
  return text.replaceAll("~", "~0").replaceAll("/", "~1");
}
