// The API key, which is kept as long as the tab is open.
import { Signal } from "./signal.ts";

const NAME = "literati.key";

/** "none": no key was needed so far; "wanted" or "wrong": the user must enter one. */
export const keyState = new Signal<"none" | "wanted" | "wrong" | "given">(
  sessionStorage.getItem(NAME) ? "given" : "none",
);

export function currentKey(): string | null {
  return sessionStorage.getItem(NAME);
}

/** Call this when the server rejects the key. Resolves when there is another one. */
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
