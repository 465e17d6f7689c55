// The records of a list, page by page; those that have not ended are followed.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { get, LostError } from "../api/client.ts";
import { connected, visible } from "../state/connection.ts";
import { changes } from "../state/removal.ts";
import type { Resource } from "../state/resource.ts";
import { useSignal } from "../state/signal.ts";
import { undone } from "../state/undo.ts";

export const MAX_RECORDS = 5000;
const PAGE_SIZE = 200; // the largest that the API allows
const NEWEST = 24; // records that each look loads again, whatever their state
const INTERVAL = 1500; // milliseconds

interface Page<Item> { items: Item[]; next_page_token: string | null }
interface Listed<Item> { items: Item[]; complete: boolean }
interface Records<Item> extends Resource<Listed<Item>> {
  put(item: Item): void; // shows a changed record
}

/** Reads pages of a list, the newest records first, until `enough` returns true. Returns whether it came to the end. */
export async function readPages<Item>(path: string, signal: AbortSignal, enough: (items: Item[]) => boolean): Promise<boolean> {
  for (let token: string | null = ""; token !== null; ) {
    const more: string = token && `&page_token=${encodeURIComponent(token)}`;
    const page: Page<Item> = await get(`${path}${path.includes("?") ? "&" : "?"}page_size=${PAGE_SIZE}${more}`, signal);
    token = page.next_page_token;
    if (enough(page.items) && token !== null) return false;
  }
  return true;
}

/**
 * Loads the newest `MAX_RECORDS` records; the first page is shown before the others have come.
 * With `live`, the states of records that can still change, those records and new ones are looked at regularly.
 */
export function useRecords<Item extends { id: string; state?: string }>(path: string, live: string[] = []): Records<Item> {
  const [state, setState] = useState<{ value?: Listed<Item>; error?: unknown }>({});
  const [round, setRound] = useState(0);
  const change = useSignal(changes);
  const undo = useSignal(undone);
  const current = useRef(new Map<string, Item>());

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const found = new Map<string, Item>();
    current.current = found;
    let complete = false;
    let timer = 0;
    const alive = (item: Item) => live.includes(item.state!);
    const add = (items: Item[]) => items.forEach((item) => found.set(item.id, item));
    const shown = () => ({ value: { items: [...found.values()], complete } });

    const readAll = async () => {
      complete = await readPages<Item>(path, signal, (items) => {
        add(items);
        setState((old) => (old.value && old.value.items.length > found.size ? old : shown()));
        return found.size >= MAX_RECORDS;
      });
      setState(shown());
    };

    const look = async () => {
      const seen = new Set<string>();
      const note = (items: Item[]) => {
        add(items);
        for (const { id } of items) seen.add(id);
      };
      const [newest, all] = await Promise.all([
        get<Page<Item>>(`${path}?page_size=${NEWEST}`, signal),
        readPages<Item>(`${path}?${live.map((each) => `state=${each}`).join("&")}`, signal, (items) => {
          note(items);
          return seen.size >= MAX_RECORDS;
        }),
      ]);
      note(newest.items);
      // The others have ended: they are among the records of any state, mostly on the first page.
      const gone = new Set([...found.values()].filter((item) => alive(item) && !seen.has(item.id)).map((item) => item.id));
      if (all && gone.size) {
        await readPages<Item>(path, signal, (items) => {
          add(items.filter((item) => gone.delete(item.id)));
          return gone.size === 0;
        });
        for (const id of gone) found.delete(id);
      }
      setState(shown());
    };

    const follow = async (act: () => Promise<void>): Promise<void> => {
      let next = look;
      try {
        await act();
      } catch (error) {
        if (signal.aborted) return;
        setState((old) => ({ ...old, error }));
        next = readAll;
        if (error instanceof LostError) {
          await connected();
          if (!signal.aborted) void follow(readAll);
          return;
        }
      }
      if (signal.aborted || !live.length) return;
      const running = [...found.values()].filter(alive).length;
      const pause = running ? INTERVAL * Math.ceil(running / PAGE_SIZE) : 4 * INTERVAL;
      timer = window.setTimeout(() => void visible().then(() => void (signal.aborted || follow(next))), pause);
    };
    void follow(readAll);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, round, change, undo]);

  const reload = useCallback(() => setRound((number) => number + 1), []);
  const put = useCallback((item: Item) => {
    current.current.set(item.id, item);
    setState((old) => (old.value ? { ...old, value: { ...old.value, items: [...current.current.values()] } } : old));
  }, []);
  return { ...state, reload, put };
}
