// Draws the boxes as SVG. Colours come from the stylesheet, so that they follow the theme.
// When zoomed out, boxes have less text in a larger font; the cuts are the last to disappear.
import type { NodeRows } from "./bars.ts";
import { stacks } from "./bars.ts";
import type { Box, ChipBox, LeafBox, SplitBox } from "./boxes.ts";
import { fit, width } from "./measure.ts";

const FAR = 22; // font size
const AFAR = 40; // font size when zoomed out even further

const side = (right: boolean) => (right ? "side-right" : "side-left");

/** Draws a triangle that points to the side, so that colour is not the only cue. */
function Arrow({ x, y, right }: { x: number; y: number; right: boolean }) {
  const tip = right ? 3 : -3;
  return <path class="arrow" d={`M${x - tip} ${y - 3.5}v7L${x + tip} ${y}z`} />;
}

/** From how far the tree is seen. */
export type Distance = "near" | "far" | "afar";

export function BoxDrawing({ box, rows, distance }: { box: Box; rows: NodeRows | undefined; distance: Distance }) {
  if (box.kind === "split") return <SplitDrawing box={box} rows={rows} distance={distance} />;
  return box.kind === "leaf" ? <LeafDrawing box={box} distance={distance} /> : <ChipDrawing box={box} distance={distance} />;
}

/** A text as large as fits into the room, at most `size`. */
function Largest({ text, size, room, ...rest }: { text: string; size: number; room: number; class: string; x: number; y: number }) {
  const fitted = Math.max(size / 3, Math.min(size, (size * room) / width(text, size, true)));
  return <text {...rest} font-size={fitted.toFixed(1)}>{fit(text, fitted, room, true)}</text>;
}

function Shares({ box, y, height }: { box: Box; y: number; height: number }) {
  const { pad } = box.detail;
  const room = box.width - 2 * pad;
  return <>{box.shares.map((part) => <rect class={part.style} x={pad + part.from * room} y={y} width={part.share * room} height={height} />)}</>;
}

function SplitDrawing({ box, rows, distance }: { box: SplitBox; rows: NodeRows | undefined; distance: Distance }) {
  const near = distance === "near";
  const { strip, top, missing, detail } = box;
  const { pad, strip: high } = detail;
  const middle = missing.x + missing.width / 2;
  const room = box.width - 2 * pad;
  const under = top + high + strip.height + 8;
  const far = Math.min(FAR, top - pad + 4);
  return (
    <>
      <rect class="box" width={box.width} height={box.height} rx="6" />
      {near && <text class="name" x={pad} y={pad + detail.name - 2} font-size={detail.name}>{box.name}</text>}
      {distance === "far" && <text class="name" x={pad} y={pad + far - 5} font-size={far}>{fit(box.name, far, room, true)}</text>}
      {distance === "far" && <Largest class="ink cuts" text={strip.brief} size={FAR} room={room} x={pad} y={top + high + FAR} />}
      {distance === "afar" && <Largest class="ink cuts" text={strip.brief} size={AFAR} room={room} x={pad} y={Math.min(top + high + AFAR, box.height - pad - 8)} />}
      <g transform={`translate(${pad} ${top})`}>
        {rows && distance !== "afar" && detail.bars > 0 && stacks(rows, strip.scale, detail.bars, { x: missing.x - pad + 2, width: missing.width - 4 })
          .map((stack) => <path class={`${stack.style} rows`} d={stack.path} transform="translate(0 -1)" />)}
        {strip.cells.map((entry) => <rect class={side(entry.right)} x={entry.x} width={entry.width} height={high} />)}
        {strip.cells.slice(1).map((entry) => <rect class="cut" x={entry.x - 0.75} width="1.5" height={high} />)}
        {strip.cells.map((entry) => entry.arrow && entry.width >= 8 && <Arrow x={entry.x + entry.width / 2} y={high / 2} right={entry.right} />)}
        {near && strip.ticks.map((tick) => <path class="tick" d={`M${tick.from} ${high}L${tick.to} ${high + tick.y}`} />)}
        {near && strip.labels.map((entry) => (
          <text class={entry.soft ? "soft" : "ink cuts"} x={entry.x} y={high + entry.y} font-size={entry.soft ? detail.small : detail.cut} text-anchor="middle">{entry.text}</text>
        ))}
        {near && strip.sides.map((line) => (
          <g>
            <rect class={side(line.right)} y={high + line.y - 9} width="8" height="8" rx="1" />
            <text class="ink cuts" x="14" y={high + line.y - 1} font-size={detail.cut}>{line.text}</text>
          </g>
        ))}
      </g>
      <rect class={`${side(missing.right)}${missing.seen ? "" : " guess"}`} x={missing.x} y={top} width={missing.width} height={high} rx="2" />
      <Arrow x={middle} y={top + high / 2} right={missing.right} />
      {near && detail.ends && <text class="soft" x={middle} y={top + high + 14} font-size={detail.small} text-anchor="middle">missing</text>}
      {near && <g class="shares"><Shares box={box} y={under} height={6} /></g>}
      {near && <Footer box={box} />}
    </>
  );
}

function LeafDrawing({ box, distance }: { box: LeafBox; distance: Distance }) {
  const { pad, name } = box.detail;
  const room = box.width - 2 * pad;
  const far = Math.min(FAR, name + 6);
  return (
    <>
      <rect class="leaf" width={box.width} height={box.height} rx="10" />
      {distance === "far" && (
        <>
          <rect class={box.style} x={pad} y={pad + 1} width="14" height="14" rx="2" />
          <Largest class="name" text={box.name} size={far} room={room - 18} x={pad + 18} y={pad + far - 4} />
          <Shares box={box} y={box.height - pad - 12} height={12} />
        </>
      )}
      {distance === "afar" && (
        <>
          <rect class={box.style} x={pad} y={pad} width={room} height={box.height - 2 * pad - 18} rx="3" />
          <Shares box={box} y={box.height - pad - 14} height={14} />
        </>
      )}
      {distance === "near" && <LeafText box={box} />}
    </>
  );
}

function LeafText({ box }: { box: LeafBox }) {
  const { pad, name, small, classes } = box.detail;
  const first = pad + name + small + 8;
  return (
    <>
      <rect class={box.style} x={pad} y={pad + 1} width="10" height="10" rx="2" />
      <text class="name" x={pad + 15} y={pad + name - 2} font-size={name}>{box.name}</text>
      {box.lines.map((line, i) => <text class="soft" x={pad} y={pad + name + (small + 3) * (i + 1) - 1} font-size={small}>{line}</text>)}
      {box.rows.map((row, i) => (
        <g transform={`translate(0 ${first + 13 * i})`}>
          <text class="ink" x={pad} y="9" font-size={small}>{row.name}</text>
          <rect class={row.style} x={pad + box.nameWidth + 6} y="1.5" width={row.length} height="8" rx="1" />
          <text class="ink" x={box.width - pad} y="9" font-size={small} text-anchor="end">{row.count}</text>
        </g>
      ))}
      {box.more && <text class="soft" x={pad} y={first + 13 * box.rows.length + 9} font-size={small}>{box.more}</text>}
      {!classes && <Shares box={box} y={box.height - pad - 6} height={6} />}
      {classes && <Footer box={box} />}
    </>
  );
}

function ChipDrawing({ box, distance }: { box: ChipBox; distance: Distance }) {
  const near = distance === "near";
  const { pad, cut, small } = box.detail;
  const right = box.width - pad;
  return (
    <>
      <rect class="chip-box" width={box.width} height={box.height} rx="12" />
      {near && <text class="name" x={pad} y={pad + cut - 1} font-size={cut}>{box.lines[0]}</text>}
      {near && <path class="chip-mark" d={`M${right - 10} ${pad + cut + small + 3}h10m-5 -5v10`} />}
      {near && box.lines.slice(1).map((line, i) => <text class="soft" x={pad} y={pad + cut + (small + 4) * (i + 1)} font-size={small}>{line}</text>)}
      {distance === "far" && <Largest class="name" text={box.lines[0]} size={FAR} room={box.width - 2 * pad} x={pad} y={pad + FAR} />}
      {distance === "afar" && <path class="chip-mark" d={`M${box.width / 2 - 14} ${box.height / 2 - 4}h28m-14 -14v28`} />}
      <Shares box={box} y={box.height - pad - 6} height={6} />
    </>
  );
}

/** Draws rows and errors on the left, and on the right whether the subtree is proven. */
function Footer({ box }: { box: SplitBox | LeafBox }) {
  const { pad, small, ends } = box.detail;
  const y = box.height - pad + 1;
  const right = box.width - pad;
  const mark = right - (ends ? width("proven", small, true) + 10 : 8);
  return (
    <g>
      <text class="soft" x={pad} y={y} font-size={small}>{box.footer}</text>
      {box.proven && <path class="proven-mark" d={`M${mark} ${y - 3.5}l2.5 2.5 4.5-5.5`} />}
      {ends && <text class={box.proven ? "proven" : "soft"} x={right} y={y} font-size={small} text-anchor="end">{box.proven ? "proven" : "open"}</text>}
    </g>
  );
}
