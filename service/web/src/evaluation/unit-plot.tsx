// A plot of shares: both axes go from 0 to 100 %.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

const SIZE = 240;
const LEFT = 46;
const TOP = 10;
const BELOW = 40;
const TICKS = [0, 0.25, 0.5, 0.75, 1];

export const at = (x: number, y: number): [number, number] => [LEFT + SIZE * x, TOP + SIZE * (1 - y)];

export function line(points: [number, number][], stepped = false): string {
  return points.map(([x, y], i) => {
    const [left, top] = at(x, y).map((value) => Number(value.toFixed(2)));
    return i === 0 ? `M${left} ${top}` : stepped ? `V${top}H${left}` : `L${left} ${top}`;
  }).join("");
}

interface Props {
  title?: string;
  label: string; // what the plot shows, for screen readers
  across: string; // the name of the horizontal axis
  up: string;
  onPick?: (x: number, y: number) => void;
  children: ComponentChildren;
}

export function UnitPlot({ title, label, across, up, onPick, children }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const pick = (event: MouseEvent) => {
    const matrix = svg.current!.getScreenCTM();
    if (!matrix) return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    onPick!((x - LEFT) / SIZE, 1 - (y - TOP) / SIZE);
  };
  return (
    <figure class="unit-plot">
      {title && <figcaption>{title}</figcaption>}
      <svg
        ref={svg} viewBox={`0 0 ${LEFT + SIZE + 14} ${TOP + SIZE + BELOW}`} role="img" aria-label={label}
        class={onPick ? "pickable" : undefined} onClick={onPick && pick}
      >
        {TICKS.map((tick) => {
          const [x, y] = at(tick, tick);
          return (
            <>
              <path class="grid" d={`M${x} ${TOP}V${TOP + SIZE}M${LEFT} ${y}H${LEFT + SIZE}`} />
              <text x={x} y={TOP + SIZE + 15} text-anchor="middle">{100 * tick}</text>
              <text x={LEFT - 6} y={y + 4} text-anchor="end">{100 * tick}</text>
            </>
          );
        })}
        <text class="axis" x={LEFT + SIZE / 2} y={TOP + SIZE + 33} text-anchor="middle">{across}, %</text>
        <text class="axis" transform={`translate(12 ${TOP + SIZE / 2}) rotate(-90)`} text-anchor="middle">{up}, %</text>
        {children}
      </svg>
    </figure>
  );
}
