// Routes by the part of the URL after `#`.
import { Signal } from "./state/signal.ts";

export interface Place { path: string[]; query: URLSearchParams }

function read(): Place {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { path: path.split("/").filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query ?? "") };
}

export const place = new Signal<Place>(read());

addEventListener("hashchange", () => place.set(read()));

export function go(path: string): void {
  location.hash = path;
}
