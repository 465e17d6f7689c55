// A large tree as an icicle on a canvas: the width of a bar is its rows, its colour the majority class.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Tree } from "../api/types.ts";
import { counted, percent } from "../format.ts";
import { dark } from "../state/appearance.ts";
import { useSignal } from "../state/signal.ts";
import { barAt, bars as placed } from "./icicle-layout.ts";
import { paint } from "./icicle-paint.ts";
import { Legend } from "./legend.tsx";
import { questionWords } from "./rules.ts";
import { useSameTree } from "./same-tree.ts";
import { className, depthsOf, pathTo, share, wrongBelow, wrongWords } from "./shape.ts";
import { step } from "./stage.tsx";
import { useWidth } from "./width.ts";

const MAX_ROW = 34; // pixels
const MIN_ROW = 15;
const LEAST_SHARE = 0.08; // of the width, that the end of a followed path gets

interface Props {
  tree: Tree;
  path: number[] | undefined; // always highlighted
  selected: number | null;
  onSelect: (index: number | null) => void;
  toolsBefore: ComponentChildren;
  toolsAfter: ComponentChildren;
  drawer: ComponentChildren;
}

/** Returns the highest node of the path below which its end is wide enough to be seen. */
function topFor(tree: Tree, path: number[] | undefined): number {
  const rows = path ? tree.nodes[path.at(-1)!].rows : 0;
  return path?.find((i) => rows / tree.nodes[i].rows >= LEAST_SHARE) ?? 0;
}

export function Icicle({ tree, path, selected, onSelect, toolsBefore, toolsAfter, drawer }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const width = useWidth(stage);
  const [top, setTop] = useState(() => (selected !== null ? topFor(tree, pathTo(tree, selected)) : topFor(tree, path)));
  const [active, setActive] = useState<number | null>(selected);
  const [hovered, setHovered] = useState<number | null>(null);
  const theme = useSignal(dark);
  const same = useSameTree(tree);
  const found = useMemo(() => placed(tree, pathTo(tree, top)), [tree, top]);
  const levels = useMemo(() => found.reduce((most, bar) => Math.max(most, bar.level), 0) + 1, [found]);
  const rowHeight = Math.max(MIN_ROW, Math.min(MAX_ROW, 460 / levels));
  const height = Math.ceil(levels * rowHeight);
  const focus = hovered ?? active ?? selected;

  useEffect(() => {
    setTop(selected !== null ? topFor(tree, pathTo(tree, selected)) : topFor(tree, path));
    setActive(selected);
    setHovered(null);
  }, [same, path]);

  useEffect(() => {
    const element = canvas.current!;
    const ratio = devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    const context = element.getContext("2d")!;
    context.scale(ratio, ratio);
    const lit = new Set(focus !== null ? pathTo(tree, focus) : path ?? []);
    element.dataset.bars = String(paint(context, tree, { bars: found, width, rowHeight, level: depthsOf(tree)[top], lit, active: focus }));
  }, [tree, found, width, height, rowHeight, focus, path, theme]);

  const at = (event: MouseEvent): number | null => {
    const box = canvas.current!.getBoundingClientRect();
    return barAt(found, (event.clientX - box.left) / box.width, Math.floor((event.clientY - box.top) / rowHeight))?.index ?? null;
  };
  /** Opens the details of a node, and zooms to a subtree; the top of the icicle leads back to the node above it. */
  const choose = (index: number) => {
    const back = index === top && index !== 0 ? pathTo(tree, index).at(-2)! : index;
    setActive(back);
    if (tree.nodes[back].split) setTop(back);
    onSelect(back);
  };
  const keys = (event: KeyboardEvent) => {
    const from = active ?? top;
    const next = active === null && event.key.startsWith("Arrow") ? top : step(tree, from, event.key);
    if (next !== null) {
      setActive(next);
      setHovered(null);
      if (!pathTo(tree, next).includes(top)) setTop(next);
    } else if (event.key === "Enter" || event.key === " ") choose(from);
    else if (event.key === "0") setTop(0);
    else if (event.key === "Escape" && selected !== null) onSelect(null);
    else return;
    event.preventDefault();
  };

  return (
    <>
      <div class="row tools">
        {toolsBefore}
        <span class="row push">
          <button type="button" class="small" disabled={top === 0} onClick={() => setTop(0)}>Show all rows</button>
          {toolsAfter}
        </span>
      </div>
      <Legend tree={tree} />
      <p class="icicle-readout" aria-live="polite">{focus === null ? <span class="quiet">A bar is a node: its width is its rows, its colour the majority class, stronger the purer it is. Click a bar to zoom.</span> : barWords(tree, focus)}</p>
      <div class="tree-body">
        <div class="stage icicle" ref={stage}>
          <canvas
            ref={canvas} style={{ width: "100%", height: `${height}px` }} tabIndex={0} role="application" aria-roledescription="icicle"
            aria-label={`The tree as an icicle: ${counted(tree.nodes.length, "node")}, ${levels} levels. Arrow keys move between nodes, Enter zooms to a node, 0 shows all rows.`}
            onKeyDown={keys} onPointerMove={(event) => setHovered(at(event))} onPointerLeave={() => setHovered(null)}
            onBlur={() => setActive(selected)}
            onClick={(event) => {
              const index = at(event);
              if (index !== null) choose(index);
            }}
          />
        </div>
        {drawer}
      </div>
    </>
  );
}

function barWords(tree: Tree, index: number): string {
  const node = tree.nodes[index];
  const rows = `${counted(node.rows, "row")} (${percent(node.rows / tree.nodes[0].rows)} of all), ${wrongWords(tree, wrongBelow(tree)[index])}`;
  const classes = `${percent(share(node))} ${className(tree, node)}`;
  const level = `Level ${depthsOf(tree)[index]}`;
  if (!node.split) return `${level}. Leaf: ${className(tree, node)}. ${rows}; ${classes}.`;
  return `${level}. ${tree.columns[node.split.column].name}: ${questionWords(tree, node)}. ${rows}; ${classes}.`;
}
