// Draws the boxes as SVG. Colours come from the stylesheet, so that they follow the theme.
// When zoomed out, boxes have less text in a larger font.
import { BARS, BODY, type Box, type LeafBox, NAME, PAD, SMALL, type SplitBox, STRIP } from "./boxes.ts";
import { fit, width } from "./measure.ts";

const FAR = 22; // font size
const AFAR = 36; // font size when zoomed out even further

const side = (right: boolean) => (right ? "side-right" : "side-left");

/** Draws a triangle that points to the side, so that colour is not the only cue. */
function Arrow({ x, y, right }: { x: number; y: number; right: boolean }) {
  const tip = right ? 3 : -3;
  return <path class="arrow" d={`M${x - tip} ${y - 3.5}v7L${x + tip} ${y}z`} />;
}

export function BoxDrawing({ box }: { box: Box }) {
  return box.kind === "split" ? <SplitDrawing box={box} /> : <LeafDrawing box={box} />;
}

function SplitDrawing({ box }: { box: SplitBox }) {
  const { strip, top, missing } = box;
  const middle = missing.x + missing.width / 2;
  const afar = Math.min(AFAR, top - 10);
  const under = top + STRIP + strip.height + 8;
  return (
    <>
      <rect class="box" width={box.width} height={box.height} rx="6" />
      <text class="name near" x={PAD} y={PAD + NAME - 2} font-size={NAME}>{box.name}</text>
      <text class="name far" x={PAD} y={PAD + FAR - 5} font-size={FAR}>{fit(box.name, FAR, box.width - 2 * PAD, true)}</text>
      <text class="soft far" x={PAD} y={top + STRIP + FAR} font-size={FAR - 2}>{fit(box.rows, FAR - 2, box.width - 2 * PAD)}</text>
      <text class="name afar" x={PAD} y={top - 10} font-size={afar}>{fit(box.name, afar, box.width - 2 * PAD, true)}</text>
      <g transform={`translate(${PAD} ${top})`}>
        {strip.bars.map((bar) => <rect class={`${side(bar.right)} bar`} x={bar.x} y={-1 - bar.height} width={bar.width} height={bar.height} />)}
        {strip.cells.map((entry) => <rect class={side(entry.right)} x={entry.x} width={entry.width} height={STRIP} />)}
        {strip.cells.slice(1).map((entry) => <rect class="cut" x={entry.x - 0.75} width="1.5" height={STRIP} />)}
        {strip.cells.map((entry) => entry.arrow && <Arrow x={entry.x + entry.width / 2} y={STRIP / 2} right={entry.right} />)}
        {strip.ticks.map((tick) => <path class="tick near" d={`M${tick.from} ${STRIP}L${tick.to} ${STRIP + 7}`} />)}
        {strip.labels.map((entry) => (
          <text class={entry.soft ? "soft near" : "ink near"} x={entry.x} y={STRIP + entry.y} font-size={entry.soft ? SMALL : BODY} text-anchor="middle">{entry.text}</text>
        ))}
        {strip.sides.map((line) => (
          <g class="near">
            <rect class={side(line.right)} y={STRIP + line.y - 9} width="8" height="8" rx="1" />
            <text class="ink" x="14" y={STRIP + line.y - 1} font-size={BODY}>{line.text}</text>
          </g>
        ))}
      </g>
      {missing.height > 0 && (
        <rect class={`${side(missing.right)} bar`} x={missing.x + 14} y={top - 1 - Math.min(BARS, missing.height)} width={missing.width - 28} height={Math.min(BARS, missing.height)} />
      )}
      <rect class={`${side(missing.right)}${missing.seen ? "" : " guess"}`} x={missing.x} y={top} width={missing.width} height={STRIP} rx="2" />
      <Arrow x={middle} y={top + STRIP / 2} right={missing.right} />
      <text class="soft near" x={middle} y={top + STRIP + 14} font-size={SMALL} text-anchor="middle">missing</text>
      {box.classes.map((part) => <rect class={part.style} x={part.x} y={under} width={part.width} height="6" />)}
      <Footer box={box} />
    </>
  );
}

function LeafDrawing({ box }: { box: LeafBox }) {
  const first = PAD + NAME + SMALL + 8;
  const room = box.width - 2 * PAD;
  return (
    <>
      <rect class="leaf" width={box.width} height={box.height} rx="10" />
      <g class="far">
        <rect class={box.style} x={PAD} y={PAD + 2} width="14" height="14" rx="2" />
        <text class="name" x={PAD + 20} y={PAD + FAR - 5} font-size={FAR}>{fit(box.name, FAR, room - 20, true)}</text>
        <text class="soft" x={PAD} y={PAD + 2 * FAR} font-size={FAR - 2}>{box.percent}</text>
        {box.parts.map((part) => <rect class={part.style} x={PAD + part.from * room} y={box.height - PAD - 8} width={part.share * room} height="8" />)}
      </g>
      <g class="afar">
        <rect class={box.style} x={PAD} y={PAD + 4} width="24" height="24" rx="3" />
        <text class="name" x={PAD + 30} y={PAD + 28} font-size={AFAR - 6}>{fit(box.name, AFAR - 6, room - 30, true)}</text>
        {box.parts.map((part) => <rect class={part.style} x={PAD + part.from * room} y={box.height - PAD - 14} width={part.share * room} height="14" />)}
      </g>
      <g class="near">
        <rect class={box.style} x={PAD} y={PAD + 1} width="10" height="10" rx="2" />
        <text class="name" x={PAD + 16} y={PAD + NAME - 2} font-size={NAME}>{box.name}</text>
        <text class="soft" x={PAD} y={PAD + NAME + SMALL + 2} font-size={SMALL}>{box.share}</text>
        {box.rows.map((row, i) => (
          <g transform={`translate(0 ${first + 13 * i})`}>
            <text class="ink" x={PAD} y="9" font-size={SMALL}>{row.name}</text>
            <rect class={row.style} x={PAD + box.nameWidth + 6} y="1.5" width={row.length} height="8" rx="1" />
            <text class="ink" x={box.width - PAD} y="9" font-size={SMALL} text-anchor="end">{row.count}</text>
          </g>
        ))}
        {box.more && <text class="soft" x={PAD} y={first + 13 * box.rows.length + 9} font-size={SMALL}>{box.more}</text>}
      </g>
      <Footer box={box} />
    </>
  );
}

/** Draws rows and errors on the left, and on the right whether the subtree is proven. */
function Footer({ box }: { box: Box }) {
  const y = box.height - PAD + 1;
  const right = box.width - PAD;
  const mark = right - width("proven", SMALL, true) - 10;
  return (
    <g class="near">
      <text class="soft" x={PAD} y={y} font-size={SMALL}>{box.footer}</text>
      {box.proven && <path class="proven-mark" d={`M${mark} ${y - 3.5}l2.5 2.5 4.5-5.5`} />}
      <text class={box.proven ? "proven" : "soft"} x={right} y={y} font-size={SMALL} text-anchor="end">{box.proven ? "proven" : "open"}</text>
    </g>
  );
}
