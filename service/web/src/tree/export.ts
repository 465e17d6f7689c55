// Exports a tree as an SVG drawing or as a JSON model.
import type { Tree } from "../api/types.ts";
import { fileName, save } from "../save.ts";
import { colour } from "../state/appearance.ts";
import type { Layout } from "./layout.ts";
import { FONT } from "./measure.ts";

const MARGIN = 20;
const TEMPORARY = ["lit", "dim", "selected"];

export function saveJson(tree: Tree, name: string): void {
  save(`${fileName(name)}.json`, "application/json", `${JSON.stringify(tree)}\n`);
}

export function saveSvg(shown: SVGSVGElement, layout: Layout, name: string): void {
  const copy = shown.cloneNode(true) as SVGSVGElement;
  const [width, height] = [layout.width + 2 * MARGIN, layout.height + 2 * MARGIN].map(Math.ceil);
  for (const attribute of [...copy.attributes]) copy.removeAttribute(attribute.name);
  copy.setAttribute("class", "drawing");
  for (const [attribute, value] of Object.entries({
    xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "font-family": FONT,
  })) copy.setAttribute(attribute, String(value));
  copy.firstElementChild!.setAttribute("transform", `translate(${MARGIN} ${MARGIN})`);
  for (const element of copy.querySelectorAll(".far, .afar")) element.remove();
  for (const element of copy.querySelectorAll("*")) {
    element.classList.remove(...TEMPORARY);
    for (const attribute of ["tabindex", "aria-selected", "aria-level", "role", "data-node"]) element.removeAttribute(attribute);
  }
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = drawingRules();
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [attribute, value] of Object.entries({ width, height, fill: colour("back") })) ground.setAttribute(attribute, String(value));
  copy.prepend(style, ground);
  save(`${fileName(name)}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(copy));
}

/** Returns the style rules of the drawing with the current colours. */
function drawingRules(): string {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const mine = rules.filter((rule): rule is CSSStyleRule => rule instanceof CSSStyleRule && rule.selectorText.startsWith(".drawing "));
  return mine.map((rule) => rule.cssText.replace(/var\(--([\w-]+)\)/g, (_, name: string) => colour(name))).join("\n");
}
