// Keeps a sweep, its best trials and all its trials up to date.
import { ApiError, get } from "../api/client.ts";
import type { ServerEvent } from "../api/events.ts";
import type { Leaderboard, Sweep, Trial, TrialList } from "../api/types.ts";
import { announcement } from "../state/announcement.ts";
import { RecordFeed } from "../state/record-feed.ts";
import { title } from "../words.ts";
import { sweepEnded, sweepWords } from "./words.ts";

const REFRESH_INTERVAL = 1500; // milliseconds: a job that starts has no event
const RELOAD_INTERVAL = 1500; // milliseconds between two loads of the trials
const SHARE = 5; // the pause is at least so many times as long as the last load took: a sweep with many trials takes time
const PAGE = 5000; // trials in one request, so that reading them does not block the page
const MAX_TRIALS = 20_000; // that are shown

export class SweepFeed extends RecordFeed<Sweep> {
  receivedAt = 0; // when the sweep was loaded, in milliseconds
  board: Leaderboard | undefined;
  trials: Trial[] = [];
  total = 0; // trials that there are
  round = 0; // how often the trials were loaded; 0: not yet

  #reload = 0;
  #loadedAt = -Infinity;
  #loadTime = 0;

  constructor(readonly id: string, redraw: () => void) {
    super(`/v1/sweeps/${id}`, REFRESH_INTERVAL, redraw);
  }

  get sweep(): Sweep | undefined {
    return this.record;
  }

  override stop(): void {
    super.stop();
    clearTimeout(this.#reload);
  }

  protected hasEnded(sweep: Sweep): boolean {
    return sweepEnded(sweep.state);
  }

  protected onRecord(sweep: Sweep, before: Sweep | undefined): void {
    this.receivedAt = performance.now();
    if (before && before.state !== sweep.state) {
      announcement.set(`${title(sweep)}: ${sweepWords(sweep)}`);
      this.#later();
    }
  }

  protected async load(): Promise<void> {
    const start = performance.now();
    const [board, first] = await Promise.all([
      get<Leaderboard>(`${this.path}/leaderboard`, this.signal),
      get<TrialList>(`${this.path}/trials?limit=${PAGE}`, this.signal),
    ]);
    const trials = [...first.items];
    while (trials.length < Math.min(first.total, MAX_TRIALS)) {
      const next = await get<TrialList>(`${this.path}/trials?limit=${PAGE}&offset=${trials.length}`, this.signal);
      if (!next.items.length) break;
      trials.push(...next.items);
    }
    this.#loadedAt = performance.now();
    this.#loadTime = this.#loadedAt - start;
    this.board = board;
    this.trials = trials;
    this.total = first.total;
    this.round += 1;
    this.changed();
  }

  /** Loads the trials soon, but not more often than their number allows. */
  #later(): void {
    if (this.#reload || this.signal.aborted) return;
    const interval = Math.max(RELOAD_INTERVAL, SHARE * this.#loadTime);
    this.#reload = window.setTimeout(() => {
      this.#reload = 0;
      void this.load().catch((error) => error instanceof ApiError && this.fail(error));
    }, Math.max(0, this.#loadedAt + interval - performance.now()));
  }

  protected onEvents(events: ServerEvent[]): void {
    if (events.some((event) => event.type !== "trial")) void this.refresh().catch(() => undefined);
    this.#later();
  }
}
