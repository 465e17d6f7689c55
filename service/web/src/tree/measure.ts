// Measures text and shortens it to fit.
export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', 'DejaVu Sans', Arial, sans-serif";

const context = document.createElement("canvas").getContext("2d")!;
const known = new Map<string, number>();

export function width(text: string, size: number, bold = false): number {
  const key = `${bold ? "b" : ""}${size}|${text}`;
  let found = known.get(key);
  if (found === undefined) {
    context.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
    found = context.measureText(text).width;
    if (known.size > 20_000) known.clear();
    known.set(key, found);
  }
  return found;
}

/** Shortens a text in the middle if it does not fit, because names often differ at their ends. */
export function fit(text: string, size: number, room: number, bold = false): string {
  if (width(text, size, bold) <= room) return text;
  for (let kept = text.length - 1; kept > 1; kept -= 1) {
    const short = `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}`;
    if (width(short, size, bold) <= room) return short;
  }
  return "…";
}
