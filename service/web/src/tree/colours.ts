// The colours of the classes.
const CLASS_COLOURS = 24;

/** Returns the style class of a tree's class; the stylesheet has its colour. */
export function classStyle(index: number): string {
  return `class${index % CLASS_COLOURS}`;
}
