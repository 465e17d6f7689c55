// The drawing of the tree, or of what is open of it: zoom, pan, highlight a path, open a node.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Tree } from "../api/types.ts";
import { IconButton } from "../parts/icons.tsx";
import { type Box, boxes as measured } from "./boxes.ts";
import { DETAILS } from "./detail.ts";
import { Drawing } from "./drawing.tsx";
import { visibleNodes } from "./folding.ts";
import { type Layout, layout as arranged } from "./layout.ts";
import { Legend } from "./legend.tsx";
import { useNodeRows } from "./rows.ts";
import { type Change, parents, pathTo } from "./shape.ts";
import { MARGIN, useZoom } from "./zoom.ts";

const FAR_BELOW = 0.62; // below this scale small text is hidden
const AFAR_BELOW = 0.42; // below this scale only cuts and colours are shown
const READABLE = 0.8; // the scale at which the smallest text can be read
const MAX_ROWS_WANTED = 60; // nodes whose rows are requested

interface Props {
  tree: Tree;
  rowsOf: string | undefined;
  changes: Map<number, Change> | undefined;
  path: number[] | undefined; // always highlighted
  width: number; // without the drawer
  open: Set<number>; // nodes whose children are visible
  onOpen: (index: number) => void;
  whole: boolean; // the stage is as high as the tree, however high that is
  selected: number | null;
  onSelect: (index: number | null) => void;
  toolsBefore: ComponentChildren;
  toolsAfter: ComponentChildren;
  drawer: ComponentChildren;
}

/** Returns the richest boxes with which the tree can be read at this width. */
function arrangement(tree: Tree, open: Set<number>, stage: number, bars: boolean) {
  const nodes = visibleNodes(tree, open);
  let found: { boxes: Box[]; layout: Layout } | undefined;
  for (const detail of DETAILS) {
    const boxes = measured(tree, nodes, open, detail, bars);
    found = { boxes, layout: arranged(tree, nodes, boxes, detail) };
    if (found.layout.width * READABLE <= stage - 2 * MARGIN) break;
  }
  return found!;
}

export function Stage({ tree, rowsOf, changes, path, width, open, onOpen, whole, selected, onSelect, toolsBefore, toolsAfter, drawer }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [active, setActive] = useState(selected ?? 0);
  const { boxes, layout } = useMemo(() => arrangement(tree, open, width, rowsOf !== undefined), [tree, open, width, rowsOf !== undefined]);
  const splits = layout.nodes.filter((i) => boxes[i].kind === "split");
  const rows = useNodeRows(rowsOf, boxes[0].detail.bars ? splits.slice(0, MAX_ROWS_WANTED) : []);
  const zoom = useZoom(svg, layout.width, layout.height, selected !== null);
  const focus = hovered ?? selected;
  const lit = useMemo(() => {
    if (focus !== null && layout.spots[focus]) return new Set(pathTo(tree, focus));
    return path ? new Set(path) : undefined;
  }, [tree, layout, focus, path]);
  const distance = zoom.view.scale < AFAR_BELOW ? "afar" : zoom.view.scale < FAR_BELOW ? "far" : "near";

  useEffect(() => {
    setHovered(null);
    setActive((old) => (layout.spots[old] ? old : 0));
  }, [tree, layout]);

  /** Zooms to these nodes, of which the last one is the most important. */
  const frame = (nodes: number[]) => {
    const shown = nodes.filter((i) => layout.spots[i]);
    const edges = shown.map((i) => ({ ...layout.spots[i], ...boxes[i] }));
    const x = Math.min(...edges.map((edge) => edge.x));
    const y = Math.min(...edges.map((edge) => edge.y));
    const last = edges.at(-1)!;
    zoom.frame(
      x, y, Math.max(...edges.map((edge) => edge.x + edge.width)) - x, Math.max(...edges.map((edge) => edge.y + edge.height)) - y,
      last.x + last.width / 2,
    );
  };
  const asked = useRef<number | null>(null); // a subtree that was opened just now
  useEffect(() => {
    if (asked.current !== null) {
      const top = asked.current;
      frame([...layout.nodes.filter((i) => i !== top && pathTo(tree, i).includes(top)), top]);
      asked.current = null;
    } else if (path && layout.width > width) frame(path);
  }, [layout, path]);
  useEffect(() => {
    if (selected === null || !layout.spots[selected]) return undefined;
    setActive(selected);
    const timer = setTimeout(() => reveal(selected), 50); // when the drawer has its place
    return () => clearTimeout(timer);
  }, [selected, layout]);

  const reveal = (index: number) => {
    const spot = layout.spots[index];
    zoom.reveal(spot.x, spot.y, boxes[index].width, boxes[index].height);
  };
  const choose = (index: number) => {
    setActive(index);
    if (boxes[index].kind === "chip") {
      asked.current = index;
      onOpen(index);
    } else onSelect(index === selected ? null : index);
  };
  const keys = (event: KeyboardEvent) => {
    const at = Number((event.target as Element).closest("[data-node]")?.getAttribute("data-node") ?? active);
    const next = step(tree, at, event.key);
    if (next !== null && layout.spots[next]) {
      setActive(next);
      reveal(next);
      svg.current?.querySelector<SVGGElement>(`[data-node="${next}"]`)?.focus({ preventScroll: true });
    } else if (event.key === "Enter" || event.key === " ") choose(at);
    else if (event.key === "+" || event.key === "=") zoom.by(1.25);
    else if (event.key === "-") zoom.by(0.8);
    else if (event.key === "0") zoom.fit();
    else if (event.key === "Escape" && selected !== null) onSelect(null);
    else return;
    event.preventDefault();
  };

  // Panning moves the drawing without redrawing it.
  const drawing = useMemo(() => (
    <Drawing
      tree={tree} boxes={boxes} layout={layout} rows={rows} distance={distance} changes={changes} lit={lit}
      selected={selected} active={active} onHover={setHovered} onSelect={(index) => void (zoom.moved() || choose(index))}
    />
  ), [tree, boxes, layout, rows, distance, changes, lit, selected, active]);

  return (
    <>
      <div class="row tools">
        {toolsBefore}
        <span class="row push">
          <IconButton name="minus" label="Zoom out" onClick={() => zoom.by(0.8)} />
          <IconButton name="plus" label="Zoom in" onClick={() => zoom.by(1.25)} />
          <IconButton name="fit" label="Fit the tree" onClick={zoom.fit} />
          {toolsAfter}
        </span>
      </div>
      <Legend tree={tree} sides changed={Boolean(changes?.size)} bars={rows.size > 0} unnamed={!boxes[0].detail.ends && boxes[0].kind === "split"} />
      <div class="tree-body">
        <div class={`stage${whole ? " whole" : ""}`} style={{ height: stageHeight(layout) }}>
          <svg
            ref={svg} class="drawing" role="group" aria-label="The tree. Arrow keys move between nodes, Enter opens a node, plus and minus zoom."
            onKeyDown={keys} {...zoom.handlers}
          >
            <g transform={`translate(${zoom.view.x.toFixed(2)} ${zoom.view.y.toFixed(2)}) scale(${zoom.view.scale.toFixed(4)})`}>
              {drawing}
            </g>
          </svg>
        </div>
        {drawer}
      </div>
    </>
  );
}

/** Returns the height that the fitted tree needs; the stylesheet limits it. */
function stageHeight({ width, height }: { width: number; height: number }): string {
  const around = 2 * MARGIN + 2; // includes the border
  return `min(calc((100cqw - ${around}px) * ${(height / width).toFixed(4)} + ${around}px), ${Math.ceil(height) + 80}px)`;
}

/** Returns the node that an arrow key leads to: parent, left child or sibling. */
export function step(tree: Tree, from: number, key: string): number | null {
  const node = tree.nodes[from];
  const above = parents(tree)[from];
  const siblings = above < 0 ? null : tree.nodes[above].split!;
  if (key === "ArrowUp") return above < 0 ? null : above;
  if (key === "ArrowDown") return node.split?.left ?? null;
  if (key === "ArrowLeft") return siblings?.right === from ? siblings.left : null;
  if (key === "ArrowRight") return siblings?.left === from ? siblings.right : node.split?.right ?? null;
  return key === "Home" ? 0 : null;
}
