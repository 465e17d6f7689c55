// Exports a tree as an SVG drawing or as a JSON model.
import { render } from "preact";
import type { Tree } from "../api/types.ts";
import { fileName, save } from "../save.ts";
import { colour } from "../state/appearance.ts";
import type { NodeRows } from "./bars.ts";
import { boxes as measured } from "./boxes.ts";
import { FULL } from "./detail.ts";
import { Edges, Node } from "./drawing.tsx";
import { openLevels, visibleNodes } from "./folding.ts";
import { layout as arranged } from "./layout.ts";
import { FONT } from "./measure.ts";

const MARGIN = 20;
const SVG = "http://www.w3.org/2000/svg";
const AT_ONCE = 40; // nodes that are drawn before the page may react again

export function saveJson(tree: Tree, name: string): void {
  save(`${fileName(name)}.json`, "application/json", `${JSON.stringify(tree)}\n`);
}

/** Draws the complete tree, whatever is folded on the page. */
export async function saveSvg(tree: Tree, rows: Map<number, NodeRows>, name: string): Promise<void> {
  const open = openLevels(tree, Infinity);
  const nodes = visibleNodes(tree, open);
  const counted = nodes.every((i) => !tree.nodes[i].split || rows.has(i)); // bars in all nodes, or in none
  const boxes = measured(tree, nodes, open, FULL, counted);
  const layout = arranged(tree, nodes, boxes, FULL);
  const [width, height] = [layout.width + 2 * MARGIN, layout.height + 2 * MARGIN].map(Math.ceil);
  const drawing = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", class: "drawing", "font-family": FONT });
  const style = element("style", {});
  style.textContent = drawingRules();
  const content = element("g", { transform: `translate(${MARGIN} ${MARGIN})` });
  drawing.append(style, element("rect", { width, height, fill: colour("back") }), content);
  const props = { tree, boxes, layout, rows, distance: "near" as const };
  const edges = content.appendChild(element("g", {}));
  render(<Edges {...props} />, edges);
  for (let from = 0; from < nodes.length; from += AT_ONCE) {
    const part = content.appendChild(element("g", {}));
    render(<>{nodes.slice(from, from + AT_ONCE).map((i) => <Node key={i} index={i} {...props} />)}</>, part);
    await new Promise((resolve) => setTimeout(resolve));
  }
  for (const each of drawing.querySelectorAll("*")) {
    for (const attribute of ["tabindex", "aria-selected", "aria-level", "aria-expanded", "role", "data-node"]) each.removeAttribute(attribute);
  }
  save(`${fileName(name)}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(drawing));
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  return made;
}

/** Returns the style rules of the drawing with the current colours. */
function drawingRules(): string {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const mine = rules.filter((rule): rule is CSSStyleRule => rule instanceof CSSStyleRule && rule.selectorText.startsWith(".drawing "));
  return mine.map((rule) => rule.cssText.replace(/var\(--([\w-]+)\)/g, (_, name: string) => colour(name))).join("\n");
}
