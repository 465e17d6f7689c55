// The bounds over time as columns, for the chart.
import type { Progress, TracePoint } from "../api/types.ts";

const SHARE_STEP = 0.005; // growth of the explored share that is worth a point

type Moment = Pick<Progress, "elapsed_seconds" | "upper_bound" | "lower_bound" | "explored" | "stage" | "expansions">;

export class Trace {
  seconds: number[] = [];
  upper: number[] = [];
  lower: number[] = [];
  explored: (number | null)[] = []; // null in the traces of version 0.1.0
  stage: number[] = [];
  expansions: number[] = [];

  #least: number[] = []; // the lowest upper bound so far, which falls over all stages

  static of(points: TracePoint[]): Trace {
    const trace = new Trace();
    for (const point of points) trace.push(point);
    return trace;
  }

  get length(): number {
    return this.seconds.length;
  }

  push({ seconds, upper, lower, explored, stage, expansions }: TracePoint): void {
    this.#least.push(Math.min(upper, this.#least.at(-1) ?? Infinity));
    this.seconds.push(seconds);
    this.upper.push(upper);
    this.lower.push(lower);
    this.explored.push(explored);
    this.stage.push(stage);
    this.expansions.push(expansions);
  }

  /** Appends the current bounds, or moves the last point if they are unchanged. */
  extend(progress: Moment): void {
    const { elapsed_seconds: seconds, upper_bound: upper, lower_bound: lower, explored, stage, expansions } = progress;
    const last = this.length - 1;
    if (upper == null || lower == null || (last >= 0 && seconds <= this.seconds[last])) return;
    const still = last > 0 && [last, last - 1].every((i) =>
      this.upper[i] === upper && this.lower[i] === lower && this.stage[i] === stage &&
      Math.abs((this.explored[i] ?? 0) - (explored ?? 0)) < SHARE_STEP);
    if (still) {
      this.seconds[last] = seconds;
      this.explored[last] = explored;
      this.expansions[last] = expansions;
    } else {
      this.push({ seconds, upper, lower, explored, stage, expansions });
    }
  }

  /** Returns the index of the first point of each stage after the first. */
  stageStarts(): number[] {
    return this.stage.flatMap((stage, i) => (i > 0 && stage !== this.stage[i - 1] ? [i] : []));
  }

  /** Returns whether the explored share is known anywhere. */
  get hasShares(): boolean {
    return this.explored.some((share) => share !== null);
  }

  /** Returns the first index with the property by bisection; the length if there is none. */
  #first(property: (index: number) => boolean): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (property(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Returns the index of the last point at or before this time; -1 if there is none. */
  at(seconds: number): number {
    return this.#first((i) => this.seconds[i] > seconds) - 1;
  }

  /** Returns the index of the first point at or after this time; the length if there is none. */
  from(seconds: number): number {
    return this.#first((i) => this.seconds[i] >= seconds);
  }

  /** Returns the time at which the upper bound was this low first, if ever. */
  reached(upper: number): number | undefined {
    return this.seconds[this.#first((i) => this.#least[i] <= upper)];
  }

  /** Returns the expansions per second over the last few seconds. */
  rate(window = 5): number | null {
    const last = this.length - 1;
    if (last < 1) return null;
    const first = Math.max(0, Math.min(last - 1, this.at(this.seconds[last] - window)));
    const spent = this.seconds[last] - this.seconds[first];
    return spent > 0 ? (this.expansions[last] - this.expansions[first]) / spent : null;
  }
}
