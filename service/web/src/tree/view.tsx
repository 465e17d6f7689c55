// The tree view: zoom, pan, highlight a path, open a node.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Dataset, Tree } from "../api/types.ts";
import { IconButton } from "../parts/icons.tsx";
import { boxes as measured } from "./boxes.ts";
import { NodeDetails } from "./details.tsx";
import { Drawing } from "./drawing.tsx";
import { saveJson, saveSvg } from "./export.ts";
import { layout as arranged } from "./layout.ts";
import { Legend } from "./legend.tsx";
import { type Change, depthsOf, parents, pathTo, wrongBelow } from "./shape.ts";
import { MARGIN, useZoom } from "./zoom.ts";

const FAR_BELOW = 0.62; // below this scale small text is hidden
const AFAR_BELOW = 0.42; // below this scale only large text is shown
const MAX_NODES_WITH_BARS = 200; // trees with more nodes have no distributions

interface Props {
  tree: Tree;
  name: string; // for exported files
  dataset?: Dataset;
  changes?: Map<number, Change>;
  path?: number[]; // always highlighted
  children?: ComponentChildren; // next to the tools
}

export function TreeView({ tree, name, dataset, changes, path, children }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [selected, setSelected] = useState<number | null>(null);
  const [active, setActive] = useState(0);
  const wrong = useMemo(() => wrongBelow(tree), [tree]);
  const boxes = useMemo(
    () => measured(tree, tree.nodes.length <= MAX_NODES_WITH_BARS ? dataset : undefined, wrong), [tree, dataset, wrong],
  );
  const layout = useMemo(() => arranged(tree, boxes), [tree, boxes]);
  const depths = useMemo(() => depthsOf(tree), [tree]);
  const zoom = useZoom(svg, layout.width, layout.height);
  const focus = hovered ?? selected;
  const lit = useMemo(() => {
    if (focus !== null && focus < tree.nodes.length) return new Set(pathTo(tree, focus));
    return path ? new Set(path) : undefined;
  }, [tree, focus, path]);

  const distance = zoom.view.scale < AFAR_BELOW ? " from-far from-afar" : zoom.view.scale < FAR_BELOW ? " from-far" : "";

  useEffect(() => {
    setHovered(null);
    setSelected(null);
    setActive(0);
  }, [tree]);

  const show = (index: number) => {
    setActive(index);
    const spot = layout.spots[index];
    zoom.reveal(spot.x, spot.y, boxes[index].width, boxes[index].height);
    svg.current?.querySelector<SVGGElement>(`[data-node="${index}"]`)?.focus({ preventScroll: true });
  };
  const keys = (event: KeyboardEvent) => {
    const next = step(tree, active, event.key);
    if (next !== null) show(next);
    else if (event.key === "Enter" || event.key === " ") setSelected(active);
    else if (event.key === "+" || event.key === "=") zoom.by(1.25);
    else if (event.key === "-") zoom.by(0.8);
    else if (event.key === "0") zoom.fit();
    else if (event.key === "Escape") setSelected(null);
    else return;
    event.preventDefault();
  };

  // Panning moves the drawing without redrawing it.
  const drawing = useMemo(() => (
    <Drawing
      tree={tree} boxes={boxes} layout={layout} depths={depths} changes={changes} lit={lit}
      selected={selected} active={active} onHover={setHovered}
      onSelect={(index) => {
        if (zoom.moved()) return;
        setSelected(index === selected ? null : index);
        setActive(index);
      }}
    />
  ), [tree, boxes, layout, depths, changes, lit, selected, active]);

  return (
    <div class="tree-view">
      <div class="row tools">
        {children}
        <span class="row push">
          <IconButton name="minus" label="Zoom out" onClick={() => zoom.by(0.8)} />
          <IconButton name="plus" label="Zoom in" onClick={() => zoom.by(1.25)} />
          <IconButton name="fit" label="Fit the tree" onClick={zoom.fit} />
          <button type="button" class="small" onClick={() => saveSvg(svg.current!, layout, name)}>SVG</button>
          <button type="button" class="small" onClick={() => saveJson(tree, name)}>JSON</button>
        </span>
      </div>
      <Legend tree={tree} changed={Boolean(changes?.size)} distribution={boxes.some((box) => box.kind === "split" && box.strip.bars.length > 0)} />
      <div class="stage" style={{ height: stageHeight(layout) }}>
        <svg
          ref={svg} class={`drawing${distance}`} role="group" aria-label="The tree. Arrow keys move between nodes, Enter opens a node, plus and minus zoom."
          onKeyDown={keys} {...zoom.handlers}
        >
          <g transform={`translate(${zoom.view.x.toFixed(2)} ${zoom.view.y.toFixed(2)}) scale(${zoom.view.scale.toFixed(4)})`}>
            {drawing}
          </g>
        </svg>
      </div>
      <NodeDetails tree={tree} index={selected} wrong={wrong} onClose={() => setSelected(null)} />
    </div>
  );
}

/** Returns the height that the fitted tree needs; the stylesheet limits it. */
function stageHeight({ width, height }: { width: number; height: number }): string {
  const around = 2 * MARGIN + 2; // includes the border
  return `min(calc((100cqw - ${around}px) * ${(height / width).toFixed(4)} + ${around}px), ${Math.ceil(height) + 80}px)`;
}

/** Returns the node that an arrow key leads to: parent, left child or sibling. */
function step(tree: Tree, from: number, key: string): number | null {
  const node = tree.nodes[from];
  const above = parents(tree)[from];
  const siblings = above < 0 ? null : tree.nodes[above].split!;
  if (key === "ArrowUp") return above < 0 ? null : above;
  if (key === "ArrowDown") return node.split?.left ?? null;
  if (key === "ArrowLeft") return siblings?.right === from ? siblings.left : null;
  if (key === "ArrowRight") return siblings?.left === from ? siblings.right : node.split?.right ?? null;
  return key === "Home" ? 0 : null;
}
