// The rows of nodes, from the server: only of what is visible, a few requests at a time, each once.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, LostError, temporary } from "../api/client.ts";
import { connected } from "../state/connection.ts";
import type { NodeRows } from "./bars.ts";

const AT_ONCE = 2; // requests
const PAUSE = 300; // milliseconds: the trees of a running job may follow each other quickly
const RETRY = 3000; // milliseconds after an error that may pass
const MAX_KEPT = 1000;

const kept = new Map<string, NodeRows>();

function keep(url: string, rows: NodeRows): void {
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value!);
  kept.set(url, rows);
}

/** `source` is the address of the tree, possibly with a query. */
function addressOf(source: string, node: number): string {
  const [path, query] = source.split("?");
  return `${path}/nodes/${node}/rows${query ? `?${query}` : ""}`;
}

/** Returns the rows of the wanted nodes as they arrive; the first ones are requested first. */
export function useNodeRows(source: string | undefined, wanted: number[]): Map<number, NodeRows> {
  const [rows, setRows] = useState<{ source?: string; found: Map<number, NodeRows> }>({ found: new Map() });
  const refused = useRef<string | undefined>(undefined); // the tree is drawn without its rows, for example if its dataset is deleted
  const key = wanted.join(" ");

  useEffect(() => {
    if (!source) return undefined;
    const stop = new AbortController();
    const queue: number[] = [];
    const known = new Map<number, NodeRows>();
    for (const node of wanted) {
      const found = kept.get(addressOf(source, node));
      if (found) known.set(node, found);
      else queue.push(node);
    }
    const show = () => setRows((old) => ({ source, found: new Map([...(old.source === source ? old.found : []), ...known]) }));
    show();
    const work = async (): Promise<void> => {
      for (let node = queue.shift(); node !== undefined; node = queue.shift()) {
        if (stop.signal.aborted || refused.current === source) return;
        try {
          const found = await get<NodeRows>(addressOf(source, node), stop.signal);
          keep(addressOf(source, node), found);
          known.set(node, found);
          if (!stop.signal.aborted) show();
        } catch (error) {
          if (stop.signal.aborted) return;
          if (!temporary(error)) {
            refused.current = source;
            return;
          }
          queue.unshift(node);
          await (error instanceof LostError ? connected() : new Promise((resolve) => setTimeout(resolve, RETRY)));
        }
      }
    };
    const timer = setTimeout(() => {
      for (let i = 0; i < AT_ONCE; i += 1) void work();
    }, queue.length ? PAUSE : 0);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [source, key]);

  return rows.source === source ? rows.found : EMPTY;
}

const EMPTY = new Map<number, NodeRows>();

/** Returns the rows of a tree that are known already. */
export function knownRows(source: string | undefined, nodes: number): Map<number, NodeRows> {
  const found = new Map<number, NodeRows>();
  for (let node = 0; source && node < nodes; node += 1) {
    const rows = kept.get(addressOf(source, node));
    if (rows) found.set(node, rows);
  }
  return found;
}
