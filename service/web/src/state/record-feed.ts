// Keeps a record of the server, such as a job, up to date by its events and by regular requests.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, request, temporary } from "../api/client.ts";
import { EventFeed, type ServerEvent } from "../api/events.ts";
import { connected } from "./connection.ts";
import { undone } from "./undo.ts";

const HIDDEN_INTERVAL = 5000; // milliseconds: the title of a hidden tab tells the state
const MAX_INTERVAL = 8000; // while the server refuses
const SHARE = 5; // the pause is at least so many times as long as the last request took

interface Followed { revision: number; state: string }

export abstract class RecordFeed<Item extends Followed> {
  record: Item | undefined;
  stream: "opening" | "live" | "waiting" | "ended" = "opening";
  error: unknown;

  #events: EventFeed | undefined;
  #stopped = new AbortController();
  #timer = 0;
  #frame = 0;
  #tag = "";
  #took = 0; // milliseconds of the last request for the record

  /** `interval` is the pause between two requests for the record in milliseconds, because not every change has an event. */
  constructor(readonly path: string, private readonly interval: number, private readonly redraw: () => void) {}

  /** Returns whether the record does not change any more. */
  protected abstract hasEnded(record: Item): boolean;
  /** Loads what belongs to the record: when the feed is opened, and when the record has ended. */
  protected abstract load(): Promise<void>;
  protected abstract onEvents(events: ServerEvent[]): void;
  /** Is called with a newer record. */
  protected abstract onRecord(record: Item, before: Item | undefined): void;
  /** Loads what else is new, after each request for the record of a visible page. */
  protected async refine(): Promise<void> {}

  protected get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  stop(): void {
    this.#stopped.abort();
    this.#events?.stop();
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
  }

  /** Starts following the record, or does so again after it was continued. */
  async open(): Promise<void> {
    this.#events?.stop();
    clearTimeout(this.#timer);
    try {
      await this.refresh();
      await this.load();
      if (this.signal.aborted) return;
      this.#events = new EventFeed(`${this.path}/events`, {
        on: (events) => this.onEvents(events),
        status: (state) => {
          this.stream = state;
          this.changed();
          if (state === "ended") void this.#settle();
        },
        failed: (error) => this.fail(error),
      });
      this.#schedule(this.interval);
    } catch (error) {
      if (this.signal.aborted) return;
      this.fail(error);
      if (!temporary(error)) return;
      await new Promise((resolve) => setTimeout(resolve, this.interval));
      await connected();
      if (!this.signal.aborted) void this.open();
    }
  }

  async refresh(): Promise<void> {
    const start = performance.now();
    const answer = await this.changedSince(this.path, this.#tag);
    this.#took = performance.now() - start;
    if (this.error !== undefined) this.fail(undefined);
    if (!answer) return;
    this.#tag = answer.headers.get("etag") ?? "";
    this.take((await answer.json()) as Item);
  }

  /** Returns the response, or null if the entity has this tag still. */
  protected async changedSince(path: string, tag: string): Promise<Response | null> {
    const headers: Record<string, string> = tag ? { "If-None-Match": tag } : {};
    const answer = await request(path, { headers, signal: this.signal });
    return answer.status === 304 ? null : answer;
  }

  /** Applies a newer record. */
  take(record: Item): void {
    if (this.record && record.revision < this.record.revision) return;
    const before = this.record;
    this.record = record;
    this.onRecord(record, before);
    this.changed();
  }

  #schedule(pause: number): void {
    if (this.signal.aborted || (this.record && this.hasEnded(this.record))) return;
    this.#timer = window.setTimeout(() => void this.#look(pause).then((next) => this.#schedule(next)), pause);
  }

  /** Loads what is new; returns the milliseconds to wait before the next time. */
  async #look(pause: number): Promise<number> {
    try {
      await this.refresh();
      if (!document.hidden) await this.refine();
      return Math.max(document.hidden ? HIDDEN_INTERVAL : this.interval, SHARE * this.#took);
    } catch (error) {
      if (error instanceof ApiError) this.fail(error);
      await connected();
      return Math.min(2 * pause, MAX_INTERVAL);
    }
  }

  /** Loads everything once more when the record has ended. */
  async #settle(): Promise<void> {
    try {
      await this.refresh();
      await this.load();
    } catch (error) {
      if (!temporary(error) || this.signal.aborted) return;
      await new Promise((resolve) => setTimeout(resolve, this.interval));
      await connected();
      if (!this.signal.aborted) void this.#settle();
    }
  }

  /** Shows an error, or that there is none any more. */
  protected fail(error: unknown): void {
    this.error = error;
    this.changed();
  }

  /** Updates the view at most once per frame. A hidden tab has no frames, but its title changes. */
  protected changed(): void {
    if (this.signal.aborted || (this.#frame && !document.hidden)) return;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (document.hidden) {
      this.redraw();
      return;
    }
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.redraw();
    });
  }
}

interface Feed { open(): Promise<void>; refresh(): Promise<void>; stop(): void }

/** Returns the open feed of a record. It is stopped when the view closes or shows another record. */
export function useFeed<Kind extends Feed>(id: string, Kind: new (id: string, redraw: () => void) => Kind): Kind {
  const [, redraw] = useState({});
  const current = useRef<{ id: string; feed: Kind } | undefined>(undefined);
  if (current.current?.id !== id) {
    current.current?.feed.stop();
    current.current = { id, feed: new Kind(id, () => redraw({})) };
    void current.current.feed.open();
  }
  useEffect(() => {
    const unwatch = undone.watch(() => void current.current?.feed.refresh().catch(() => undefined));
    return () => {
      unwatch();
      current.current?.feed.stop();
    };
  }, []);
  return current.current.feed;
}
