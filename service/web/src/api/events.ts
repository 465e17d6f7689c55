// Reads Server-Sent Events with fetch, because EventSource cannot send an API key.
import { connected, visible } from "../state/connection.ts";
import { request, temporary } from "./client.ts";

export interface ServerEvent { type: string; id: string; data: Record<string, unknown> }

interface Listener {
  on(events: ServerEvent[]): void;
  status(state: "live" | "waiting" | "ended"): void;
  failed(error: unknown): void;
}

const SILENCE = 60_000; // milliseconds without data after which the connection is considered lost
const PAUSE = 1000; // milliseconds before reconnecting

/** Follows a job's events until it ends or `stop` is called, and reconnects without missing events. */
export class EventFeed {
  #last = "";
  #stopped = new AbortController();
  #current = new AbortController();
  /** Closes the stream of a hidden tab, because a browser opens only six connections per server. */
  #onVisibility = () => document.hidden && this.#current.abort();

  constructor(private readonly path: string, private readonly listener: Listener) {
    document.addEventListener("visibilitychange", this.#onVisibility);
    void this.#follow();
  }

  stop(): void {
    this.#stopped.abort();
    this.#current.abort();
    document.removeEventListener("visibilitychange", this.#onVisibility);
  }

  async #follow(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await visible();
      await connected();
      this.#current = new AbortController();
      if (this.#stopped.signal.aborted) return;
      try {
        if (await this.#read(this.#current)) {
          this.listener.status("ended");
          return;
        }
      } catch (error) {
        if (!this.#current.signal.aborted && !temporary(error)) {
          this.listener.failed(error);
          return;
        }
      }
      if (this.#stopped.signal.aborted) return;
      this.listener.status("waiting");
      await new Promise((resolve) => setTimeout(resolve, document.hidden ? 0 : PAUSE));
    }
  }

  /** Reads one stream to its end; returns whether the job has ended. */
  async #read(current: AbortController): Promise<boolean> {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (this.#last) headers["Last-Event-ID"] = this.#last;
    const answer = await request(this.path, { headers, signal: current.signal });
    if (answer.status === 204) return true; // the last event is known already
    this.listener.status("live");
    const parser = new Parser();
    let ended = false;
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const silence = setTimeout(() => current.abort(), SILENCE);
      const { value, done } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return ended;
      const events = parser.feed(value);
      for (const event of events) {
        if (event.id) this.#last = event.id;
        ended ||= event.type === "done";
      }
      if (events.length) this.listener.on(events);
    }
  }
}

/** Parses chunks of text into events. */
class Parser {
  #rest = "";

  feed(text: string): ServerEvent[] {
    const blocks = (this.#rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(parseBlock).filter((event) => event !== null);
  }
}

function parseBlock(block: string): ServerEvent | null {
  const fields = { event: "message", id: "", data: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") fields.data += (fields.data && "\n") + value;
    else if (name === "event" || name === "id") fields[name] = value;
  }
  if (!fields.data) return null;
  return { type: fields.event, id: fields.id, data: JSON.parse(fields.data) as Record<string, unknown> };
}
