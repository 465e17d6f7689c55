// Keeps the data of a running job up to date.
import { get } from "../api/client.ts";
import type { ServerEvent } from "../api/events.ts";
import type { Incumbent, IncumbentScores, Job, ScoreSeries, Trace as StoredTrace } from "../api/types.ts";
import { number } from "../format.ts";
import { announcement } from "../state/announcement.ts";
import { RecordFeed } from "../state/record-feed.ts";
import { ended, stateWords } from "../words.ts";
import { type Improvement, improvementsOf } from "./moments.ts";
import { Trace } from "./trace.ts";

const REFRESH_INTERVAL = 1000; // milliseconds: memory and expansions have no events
const TRACE_INTERVAL = 3000; // milliseconds per thousand points of the trace

export class JobFeed extends RecordFeed<Job> {
  trace = new Trace();
  scores: IncumbentScores[] = []; // of every tree
  improvements: Improvement[] = [];
  spaces = new Map<number, string>(); // the search space of each stage
  logs: { at: string; message: string }[] = [];

  #trees = new Map<number, Promise<Incumbent>>();
  #scoresTag = "";
  #tracedAt = 0;

  constructor(readonly id: string, redraw: () => void) {
    super(`/v1/jobs/${id}`, REFRESH_INTERVAL, redraw);
  }

  get job(): Job | undefined {
    return this.record;
  }

  /** Returns tree N with its first bounds. It never changes, so it is requested once. */
  tree(revision: number): Promise<Incumbent> {
    let found = this.#trees.get(revision);
    if (!found) {
      found = get<Incumbent>(`${this.path}/incumbent?revision=${revision}`);
      this.#trees.set(revision, found);
      found.catch(() => this.#trees.delete(revision));
    }
    return found;
  }

  /** Returns the best tree with its current bounds. */
  best(): Promise<Incumbent> {
    return get<Incumbent>(`${this.path}/incumbent`, this.signal);
  }

  override async refresh(): Promise<void> {
    await super.refresh();
    if (this.job && this.job.progress.incumbents !== (this.scores.at(-1)?.revision ?? 0)) await this.#readScores();
  }

  protected hasEnded(job: Job): boolean {
    return ended(job.state);
  }

  protected onRecord(job: Job, before: Job | undefined): void {
    this.spaces.set(job.progress.stage, job.progress.space);
    this.trace.extend(job.progress);
    if (before && before.state !== job.state) announcement.set(`${job.name ?? "The job"}: ${stateWords(job)}`);
  }

  protected async load(): Promise<void> {
    const { points } = await get<StoredTrace>(`${this.path}/trace`, this.signal);
    this.#tracedAt = performance.now();
    this.trace = Trace.of(points);
    if (this.job) this.trace.extend(this.job.progress);
    this.improvements = improvementsOf(this.scores, this.trace);
    this.changed();
  }

  async #readScores(): Promise<void> {
    const answer = await this.changedSince(`${this.path}/scores`, this.#scoresTag);
    if (!answer) return;
    this.#scoresTag = answer.headers.get("etag") ?? "";
    this.scores = ((await answer.json()) as ScoreSeries).points;
    this.improvements = improvementsOf(this.scores, this.trace);
    this.changed();
  }

  /** Loads the trace, which is finer than the events, less often the longer it is. */
  protected override async refine(): Promise<void> {
    if (performance.now() - this.#tracedAt < TRACE_INTERVAL * Math.max(1, this.trace.length / 1000)) return;
    if (this.job?.state === "RUNNING") await this.load();
  }

  protected onEvents(events: ServerEvent[]): void {
    for (const { type, data } of events) {
      if (type === "bound") this.#bound(data);
      else if (type === "incumbent") this.#incumbent(data);
      else if (type === "log") this.logs.push({ at: String(data.at), message: String(data.message) });
      else if (type === "resync") void this.load().catch(() => undefined);
    }
    if (events.some((event) => event.type === "state" || event.type === "done" || event.type === "incumbent")) {
      void this.refresh().catch(() => undefined);
    }
    this.changed();
  }

  #bound(data: Record<string, unknown>): void {
    const [seconds, upper, lower] = [data.elapsed_seconds, data.upper_bound, data.lower_bound].map(Number);
    const bounds = {
      elapsed_seconds: seconds, upper_bound: upper, lower_bound: lower, expansions: Number(data.expansions),
      explored: data.explored as number | null,
      seconds_left: data.seconds_left as number | null, stage: Number(data.stage), space: String(data.space),
    };
    if (bounds.space) this.spaces.set(bounds.stage, bounds.space);
    this.trace.extend(bounds);
    if (!this.job || seconds <= this.job.progress.elapsed_seconds) return;
    // The record follows a second later; until then the figures must match the chart.
    const gap = { gap_absolute: upper - lower, gap_relative: upper > 0 ? (upper - lower) / upper : 0 };
    this.record = { ...this.job, progress: { ...this.job.progress, ...bounds, ...gap, objective: Number(data.objective) } };
  }

  #incumbent(data: Record<string, unknown>): void {
    if (this.stream === "live" && this.job && Number(data.revision) > this.job.progress.incumbents) {
      announcement.set(`A better tree was found. Its cost is ${number(Number(data.objective))}.`);
    }
  }
}
