// Routes by the part of the URL after `#`.
import { Signal } from "./state/signal.ts";

export interface Place {
  path: string[];
  query: URLSearchParams;
  visit: number; // another one each time that a link is followed
}

let visits = 0;

function read(): Place {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query ?? ""), visit: (visits += 1) };
}

/** Decodes a part of the path; a malformed one is kept as it is, and no view has its name. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const place = new Signal<Place>(read());

addEventListener("hashchange", () => place.set(read()));

export function go(path: string): void {
  location.hash = path;
}

/**
 * Keeps the state of a view, such as its tab or its tree, in the link, without opening the view again. null removes an entry.
 * Views read it once, when they open, from `place.value.query`.
 */
export function keepInLink(entries: Record<string, string | null>): void {
  const { path, query } = read();
  for (const [name, value] of Object.entries(entries)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  history.replaceState(null, "", `#/${path.map(encodeURIComponent).join("/")}${text && `?${text}`}`);
  place.value.query = query;
}
