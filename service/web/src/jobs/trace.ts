// The bounds over time as columns, for the chart.
import type { Progress, TracePoint } from "../api/types.ts";

export class Trace {
  seconds: number[] = [];
  upper: number[] = [];
  lower: number[] = [];
  expansions: number[] = [];

  static of(points: TracePoint[]): Trace {
    const trace = new Trace();
    for (const point of points) trace.push(point.seconds, point.upper, point.lower, point.expansions);
    return trace;
  }

  get length(): number {
    return this.seconds.length;
  }

  push(seconds: number, upper: number, lower: number, expansions: number): void {
    this.seconds.push(seconds);
    this.upper.push(upper);
    this.lower.push(lower);
    this.expansions.push(expansions);
  }

  /** Appends the current bounds, or moves the last point if they are unchanged. */
  extend(progress: Pick<Progress, "elapsed_seconds" | "upper_bound" | "lower_bound" | "expansions">): void {
    const { elapsed_seconds: seconds, upper_bound: upper, lower_bound: lower, expansions } = progress;
    const last = this.length - 1;
    if (upper == null || lower == null || (last >= 0 && seconds <= this.seconds[last])) return;
    const still = last > 0 && [last, last - 1].every((i) => this.upper[i] === upper && this.lower[i] === lower);
    if (still) {
      this.seconds[last] = seconds;
      this.expansions[last] = expansions;
    } else {
      this.push(seconds, upper, lower, expansions);
    }
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

  /** Returns the time at which the upper bound was this low first, if ever. */
  reached(upper: number): number | undefined {
    return this.seconds[this.#first((i) => this.upper[i] <= upper)];
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
