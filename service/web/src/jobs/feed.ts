// Keeps the data of a running job up to date by its events and by regular requests.
import { ApiError, get, LostError, request, temporary } from "../api/client.ts";
import { EventFeed, type ServerEvent } from "../api/events.ts";
import type { Incumbent, IncumbentScores, Job, ScoreSeries, Trace as StoredTrace } from "../api/types.ts";
import { number } from "../format.ts";
import { announcement } from "../state/announcement.ts";
import { connected } from "../state/connection.ts";
import { ended, stateWords } from "../words.ts";
import { type Improvement, improvementsOf } from "./moments.ts";
import { Trace } from "./trace.ts";

const REFRESH_INTERVAL = 1000; // milliseconds: memory and expansions have no events
const HIDDEN_INTERVAL = 5000; // the title of a hidden tab tells the state
const MAX_INTERVAL = 8000; // while the server refuses
const TRACE_INTERVAL = 3000; // milliseconds per thousand points of the trace

export class JobFeed {
  job: Job | undefined;
  trace = new Trace();
  scores: IncumbentScores[] = []; // of every tree
  improvements: Improvement[] = [];
  spaces = new Map<number, string>(); // the search space of each stage
  logs: { at: string; message: string }[] = [];
  stream: "opening" | "live" | "waiting" | "ended" = "opening";
  error: unknown;

  #trees = new Map<number, Promise<Incumbent>>();
  #events: EventFeed | undefined;
  #stopped = new AbortController();
  #timer = 0;
  #frame = 0;
  #tag = "";
  #scoresTag = "";
  #tracedAt = 0;

  constructor(readonly id: string, private readonly redraw: () => void) {
    void this.#open();
  }

  stop(): void {
    this.#stopped.abort();
    this.#events?.stop();
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
  }

  /** Returns tree N with its first bounds. It never changes, so it is requested once. */
  tree(revision: number): Promise<Incumbent> {
    let found = this.#trees.get(revision);
    if (!found) {
      found = get<Incumbent>(`/v1/jobs/${this.id}/incumbent?revision=${revision}`);
      this.#trees.set(revision, found);
      found.catch(() => this.#trees.delete(revision));
    }
    return found;
  }

  /** Returns the best tree with its current bounds. */
  best(): Promise<Incumbent> {
    return get<Incumbent>(`/v1/jobs/${this.id}/incumbent`, this.#stopped.signal);
  }

  async refresh(): Promise<void> {
    const answer = await this.#changedSince(`/v1/jobs/${this.id}`, this.#tag);
    this.error = undefined;
    if (answer) {
      this.#tag = answer.headers.get("etag") ?? "";
      this.take((await answer.json()) as Job);
    }
    if (this.job && this.job.progress.incumbents !== (this.scores.at(-1)?.revision ?? 0)) await this.#readScores();
  }

  /** Returns the response, or null if the entity has this tag still. */
  async #changedSince(path: string, tag: string): Promise<Response | null> {
    const headers: Record<string, string> = tag ? { "If-None-Match": tag } : {};
    const answer = await request(path, { headers, signal: this.#stopped.signal });
    return answer.status === 304 ? null : answer;
  }

  /** Applies a newer record of the job. */
  take(job: Job): void {
    if (this.job && job.revision < this.job.revision) return;
    const before = this.job;
    this.job = job;
    this.spaces.set(job.progress.stage, job.progress.space);
    this.trace.extend(job.progress);
    if (before && before.state !== job.state) announcement.set(`${job.name ?? "The job"}: ${stateWords(job)}`);
    this.#changed();
  }

  async #open(): Promise<void> {
    try {
      await this.refresh();
      await this.#readTrace();
      this.#events = new EventFeed(`/v1/jobs/${this.id}/events`, {
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
      if (!this.#stopped.signal.aborted) void this.#open();
    }
  }

  async #readTrace(): Promise<void> {
    const { points } = await get<StoredTrace>(`/v1/jobs/${this.id}/trace`, this.#stopped.signal);
    this.#tracedAt = performance.now();
    this.trace = Trace.of(points);
    if (this.job) this.trace.extend(this.job.progress);
    this.improvements = improvementsOf(this.scores, this.trace);
    this.#changed();
  }

  async #readScores(): Promise<void> {
    const answer = await this.#changedSince(`/v1/jobs/${this.id}/scores`, this.#scoresTag);
    if (!answer) return;
    this.#scoresTag = answer.headers.get("etag") ?? "";
    this.scores = ((await answer.json()) as ScoreSeries).points;
    this.improvements = improvementsOf(this.scores, this.trace);
    this.#changed();
  }

  /** Loads the trace, which is finer than the events, less often the longer it is. */
  async #refine(): Promise<void> {
    if (performance.now() - this.#tracedAt < TRACE_INTERVAL * Math.max(1, this.trace.length / 1000)) return;
    if (this.job?.state === "RUNNING") await this.#readTrace();
  }

  #schedule(pause = REFRESH_INTERVAL): void {
    if (this.#stopped.signal.aborted || (this.job && ended(this.job.state))) return;
    this.#timer = window.setTimeout(() => void this.#look(pause).then((next) => this.#schedule(next)), pause);
  }

  /** Loads what is new; returns the milliseconds to wait before the next time. */
  async #look(pause: number): Promise<number> {
    try {
      await this.refresh();
      if (document.hidden) return HIDDEN_INTERVAL;
      await this.#refine();
      return REFRESH_INTERVAL;
    } catch (error) {
      if (error instanceof ApiError) this.#fail(error);
      await connected();
      return Math.min(2 * pause, MAX_INTERVAL);
    }
  }

  /** Loads the final trace when the job has ended. */
  async #settle(): Promise<void> {
    try {
      await this.refresh();
      await this.#readTrace();
    } catch (error) {
      if (!(error instanceof LostError) || this.#stopped.signal.aborted) return;
      await connected();
      void this.#settle();
    }
  }

  #on(events: ServerEvent[]): void {
    for (const { type, data } of events) {
      if (type === "bound") this.#bound(data);
      else if (type === "incumbent") this.#incumbent(data);
      else if (type === "log") this.logs.push({ at: String(data.at), message: String(data.message) });
      else if (type === "resync") void this.#readTrace().catch(() => undefined);
    }
    if (events.some((event) => event.type === "state" || event.type === "done" || event.type === "incumbent")) {
      void this.refresh().catch(() => undefined);
    }
    this.#changed();
  }

  #bound(data: Record<string, unknown>): void {
    const [seconds, upper, lower] = [data.elapsed_seconds, data.upper_bound, data.lower_bound].map(Number);
    const bounds = {
      elapsed_seconds: seconds, upper_bound: upper, lower_bound: lower, expansions: Number(data.expansions),
      beyond_space: data.beyond_space === true, explored: data.explored as number | null,
      seconds_left: data.seconds_left as number | null, stage: Number(data.stage), space: String(data.space),
    };
    if (bounds.space) this.spaces.set(bounds.stage, bounds.space);
    this.trace.extend(bounds);
    if (!this.job || seconds <= this.job.progress.elapsed_seconds) return;
    // The record follows a second later; until then the figures must match the chart.
    const gap = { gap_absolute: upper - lower, gap_relative: upper > 0 ? (upper - lower) / upper : 0 };
    this.job = { ...this.job, progress: { ...this.job.progress, ...bounds, ...gap, objective: Number(data.objective) } };
  }

  #incumbent(data: Record<string, unknown>): void {
    if (this.stream === "live" && this.job && Number(data.revision) > this.job.progress.incumbents) {
      announcement.set(`A better tree was found. Its cost is ${number(Number(data.objective))}.`);
    }
  }

  #fail(error: unknown): void {
    this.error = error;
    this.#changed();
  }

  /** Updates the view at most once per frame. */
  #changed(): void {
    if (this.#frame || this.#stopped.signal.aborted) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.redraw();
    });
  }
}
