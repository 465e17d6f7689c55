// Sends requests to the API and handles keys, problems and lost connections.
import { heard, lost, notHeard } from "../state/connection.ts";
import { anotherKey, currentKey } from "../state/session.ts";
import type { FieldError, Problem } from "./types.ts";

/** The server rejected the request; its message is for users. */
export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }

  get status(): number {
    return this.problem.status;
  }

  get errors(): FieldError[] {
    return this.problem.errors ?? [];
  }
}

/** There was no response. */
export class LostError extends Error {
  constructor() {
    super("The server does not respond.");
  }
}

export interface Options {
  method?: string;
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  slow?: boolean; // no timeout, for uploads
}

/** Milliseconds until a response must have started. */
const PATIENCE = 20_000;

/** Returns the response of any status; after 401 it asks for a key and tries again. */
async function ask(path: string, { slow, ...options }: Options): Promise<Response> {
  for (;;) {
    const key = currentKey();
    const headers = { Accept: "application/json", ...options.headers, ...(key && { Authorization: `Bearer ${key}` }) };
    const patience = new AbortController();
    const timer = slow ? 0 : setTimeout(() => patience.abort(), PATIENCE);
    const signal = AbortSignal.any([patience.signal, ...(options.signal ? [options.signal] : [])]);
    let answer: Response;
    try {
      answer = await fetch(path, { ...options, signal, headers, cache: "no-store" });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      notHeard();
      throw new LostError();
    } finally {
      clearTimeout(timer);
    }
    heard();
    if (answer.status !== 401) return answer;
    await anotherKey(key);
  }
}

export async function request(path: string, options: Options = {}): Promise<Response> {
  const answer = await ask(path, options);
  if (!answer.ok && answer.status !== 304) throw new ApiError(await problemOf(answer));
  return answer;
}

async function problemOf(answer: Response): Promise<Problem> {
  const nothing = { type: "about:blank", title: answer.statusText, status: answer.status };
  try {
    const body = (await answer.json()) as Partial<Problem>;
    return { ...nothing, detail: `The server responded with ${answer.status}.`, ...body };
  } catch {
    return { ...nothing, detail: `The server responded with ${answer.status} ${answer.statusText}.` };
  }
}

export async function get<Body>(path: string, signal?: AbortSignal): Promise<Body> {
  return (await request(path, { signal })).json() as Promise<Body>;
}

export async function send<Body>(method: string, path: string, body?: unknown, headers = {}): Promise<Body> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const type: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
  const answer = await request(path, { method, ...json, headers: { ...type, ...headers } });
  return (answer.status === 204 ? null : await answer.json()) as Body;
}

/** Returns whether the same request may succeed later. */
export function passing(error: unknown): boolean {
  return error instanceof LostError || error instanceof TypeError || (error instanceof ApiError && (error.status >= 500 || error.status === 429));
}

/** Waits until the server responds again. */
export function connected(): Promise<void> {
  return lost.when((away) => !away);
}

export const MAX_LISTED = 500;

/** Loads the pages of a list, up to `most` items. */
export async function getAll<Item>(path: string, signal?: AbortSignal, most = MAX_LISTED): Promise<Item[]> {
  const items: Item[] = [];
  const mark = path.includes("?") ? "&" : "?";
  for (let token: string | null = ""; token !== null && items.length < most; ) {
    const more: string = token && `&page_token=${encodeURIComponent(token)}`;
    const page: { items: Item[]; next_page_token: string | null } = await get(`${path}${mark}page_size=100${more}`, signal);
    items.push(...page.items);
    token = page.next_page_token;
  }
  return items;
}

/** Returns the message for a part of the request such as `/body/parameters/max_depth`. */
export function complaintAt(error: unknown, pointer: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const found = error.errors.filter((entry) => entry.pointer === pointer || entry.pointer.startsWith(`${pointer}/`));
  return found.length ? found.map((entry) => entry.message).join(" ") : undefined;
}

export function pointerPart(text: string): string {
  return text.replaceAll("~", "~0").replaceAll("/", "~1");
}
