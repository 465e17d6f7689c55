// The API key, where the server wants one. It lives as long as the tab.
import { Signal } from "./signal.ts";

const NAME = "literati.key";

/** "none": no key was needed so far; "wanted" or "wrong": somebody has to type one. */
export const keyState = new Signal<"none" | "wanted" | "wrong" | "given">(
  sessionStorage.getItem(NAME) ? "given" : "none",
);

export function currentKey(): string | null {
  return sessionStorage.getItem(NAME);
}

/** The server refused this key (or its absence). Resolves when there is another one to try. */
export async function anotherKey(refused: string | null): Promise<void> {
  if (currentKey() === refused) {
    sessionStorage.removeItem(NAME);
    keyState.set(refused === null ? "wanted" : "wrong");
  }
  await keyState.when((state) => state === "given");
}

export function signIn(key: string): void {
  sessionStorage.setItem(NAME, key);
  keyState.set("given");
}

export function signOut(): void {
  sessionStorage.removeItem(NAME);
  location.reload();
}
