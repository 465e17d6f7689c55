// State of a view that its link keeps.
import { useState } from "preact/hooks";
import type { Order } from "../parts/table.tsx";
import { keepInLink, place } from "../router.ts";

/** Like `useState` for a text; the empty text is not in the link. */
export function useLinked(name: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => place.value.query.get(name) ?? "");
  const change = (next: string) => {
    setValue(next);
    keepInLink({ [name]: next || null });
  };
  return [value, change];
}

/** "-created" is the column `created` from large to small. */
export function orderOf(text: string): Order {
  return text.startsWith("-") ? { by: text.slice(1), descending: true } : { by: text, descending: false };
}

export function orderText({ by, descending }: Order): string {
  return descending ? `-${by}` : by;
}
