// A small chart of the bounds without axes.
import { number } from "../format.ts";
import type { Trace } from "./trace.ts";

const WIDTH = 300;
const HEIGHT = 72;
const MAX_POINTS = 300; // more than there are pixels

export function Sparkline({ trace }: { trace: Trace }) {
  const last = trace.length - 1;
  if (last < 1) return <div class="sparkline empty-line" />;
  const [start, span] = [trace.seconds[0], trace.seconds[last] - trace.seconds[0] || 1];
  const top = trace.upper[0] || 1;
  const x = (i: number) => (((trace.seconds[i] - start) / span) * WIDTH).toFixed(1);
  const y = (value: number) => (2 + (1 - value / top) * (HEIGHT - 4)).toFixed(1);
  const step = Math.max(1, Math.floor(trace.length / MAX_POINTS));
  const places: number[] = [];
  for (let i = 0; i < last; i += step) places.push(i);
  places.push(last);
  const line = (values: number[]) => places.map((i, k) => (k ? `H${x(i)}V${y(values[i])}` : `M${x(i)} ${y(values[i])}`)).join("");
  const back = [...places].reverse();
  const lowerBack = back.map((i, k) => (k ? `V${y(trace.lower[i])}H${x(i)}` : `L${x(i)} ${y(trace.lower[i])}`)).join("");
  return (
    <svg
      class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img"
      aria-label={`Upper bound ${number(trace.upper[last])}, lower bound ${number(trace.lower[last])}.`}
    >
      <path class="band" d={`${line(trace.upper)}${lowerBack}Z`} />
      <path class="upper" d={line(trace.upper)} />
      <path class="lower" d={line(trace.lower)} />
    </svg>
  );
}
