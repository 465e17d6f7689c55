// Keeps a sweep, its best trials and all its trials up to date by its events.
import { ApiError, get, request, temporary } from "../api/client.ts";
import { EventFeed, type ServerEvent } from "../api/events.ts";
import type { Leaderboard, Sweep, Trial, TrialList } from "../api/types.ts";
import { announcement } from "../state/announcement.ts";
import { connected } from "../state/connection.ts";
import { title } from "../words.ts";
import { sweepEnded, sweepWords } from "./words.ts";

const REFRESH_INTERVAL = 1500; // milliseconds: a job that starts has no event
const HIDDEN_INTERVAL = 5000; // for the title of a hidden tab
const RELOAD_INTERVAL = 1500; // milliseconds between two loads of the trials
const SHARE = 5; // the pause is at least so many times as long as the last load took: a sweep with many trials takes time
const PAGE = 5000; // trials in one request, so that reading them does not block the page
const MAX_TRIALS = 20_000; // that are shown

export class SweepFeed {
  sweep: Sweep | undefined;
  receivedAt = 0; // when the sweep was loaded, in milliseconds
  board: Leaderboard | undefined;
  trials: Trial[] = [];
  total = 0; // trials that there are
  round = 0; // how often the trials were loaded; 0: not yet
  stream: "opening" | "live" | "waiting" | "ended" = "opening";
  error: unknown;

  #events: EventFeed | undefined;
  #stopped = new AbortController();
  #timer = 0;
  #reload = 0;
  #loadedAt = -Infinity;
  #loadTime = 0;
  #refreshTime = 0;
  #tag = "";
  #frame = 0;

  constructor(readonly id: string, private readonly redraw: () => void) {
    void this.open();
  }

  stop(): void {
    this.#stopped.abort();
    this.#events?.stop();
    clearTimeout(this.#timer);
    clearTimeout(this.#reload);
    cancelAnimationFrame(this.#frame);
  }

  /** Starts following the sweep, or does so again after it was extended. */
  async open(): Promise<void> {
    this.#events?.stop();
    clearTimeout(this.#timer);
    try {
      await this.refresh();
      await this.#load();
      this.#events = new EventFeed(`/v1/sweeps/${this.id}/events`, {
        on: (events) => this.#on(events),
        status: (state) => {
          this.stream = state;
          this.#changed();
          if (state === "ended") void this.#settle();
        },
        failed: (error) => this.#fail(error),
      });
      this.#schedule();
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      this.#fail(error);
      if (!temporary(error)) return;
      await new Promise((resolve) => setTimeout(resolve, REFRESH_INTERVAL));
      await connected();
      if (!this.#stopped.signal.aborted) void this.open();
    }
  }

  async refresh(): Promise<void> {
    const start = performance.now();
    const headers: Record<string, string> = this.#tag ? { "If-None-Match": this.#tag } : {};
    const answer = await request(`/v1/sweeps/${this.id}`, { headers, signal: this.#stopped.signal });
    this.#refreshTime = performance.now() - start;
    this.error = undefined;
    if (answer.status === 304) return;
    this.#tag = answer.headers.get("etag") ?? "";
    this.take((await answer.json()) as Sweep);
  }

  /** Applies a newer record of the sweep. */
  take(sweep: Sweep): void {
    if (this.sweep && sweep.revision < this.sweep.revision) return;
    const before = this.sweep;
    this.sweep = sweep;
    this.receivedAt = performance.now();
    if (before && before.state !== sweep.state) {
      announcement.set(`${title(sweep)}: ${sweepWords(sweep)}`);
      this.#later();
    }
    this.#changed();
  }

  async #load(): Promise<void> {
    const start = performance.now();
    const here = `/v1/sweeps/${this.id}`;
    const { signal } = this.#stopped;
    const [board, first] = await Promise.all([
      get<Leaderboard>(`${here}/leaderboard`, signal), get<TrialList>(`${here}/trials?limit=${PAGE}`, signal),
    ]);
    const trials = [...first.items];
    while (trials.length < Math.min(first.total, MAX_TRIALS)) {
      const next = await get<TrialList>(`${here}/trials?limit=${PAGE}&offset=${trials.length}`, signal);
      if (!next.items.length) break;
      trials.push(...next.items);
    }
    this.#loadedAt = performance.now();
    this.#loadTime = this.#loadedAt - start;
    this.board = board;
    this.trials = trials;
    this.total = first.total;
    this.round += 1;
    this.#changed();
  }

  /** Loads the trials soon, but not more often than their number allows. */
  #later(): void {
    if (this.#reload || this.#stopped.signal.aborted) return;
    const interval = Math.max(RELOAD_INTERVAL, SHARE * this.#loadTime);
    this.#reload = window.setTimeout(() => {
      this.#reload = 0;
      void this.#load().catch((error) => error instanceof ApiError && this.#fail(error));
    }, Math.max(0, this.#loadedAt + interval - performance.now()));
  }

  #schedule(): void {
    if (this.#stopped.signal.aborted || (this.sweep && sweepEnded(this.sweep.state))) return;
    this.#timer = window.setTimeout(() => {
      this.refresh().catch((error) => error instanceof ApiError && this.#fail(error)).finally(() => this.#schedule());
    }, Math.max(document.hidden ? HIDDEN_INTERVAL : REFRESH_INTERVAL, SHARE * this.#refreshTime));
  }

  /** Loads everything once more when the sweep has ended. */
  async #settle(): Promise<void> {
    try {
      await this.refresh();
      await this.#load();
    } catch (error) {
      if (!temporary(error) || this.#stopped.signal.aborted) return;
      await connected();
      void this.#settle();
    }
  }

  #on(events: ServerEvent[]): void {
    if (events.some((event) => event.type !== "trial")) void this.refresh().catch(() => undefined);
    this.#later();
  }

  #fail(error: unknown): void {
    this.error = error;
    this.#changed();
  }

  /** Updates the view at most once per frame. A hidden tab has no frames, but its title changes. */
  #changed(): void {
    if (this.#frame || this.#stopped.signal.aborted) return;
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
