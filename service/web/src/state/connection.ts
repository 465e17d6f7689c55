// The connection to the server. When the server does not respond, one loop polls until it does.
import { Signal } from "./signal.ts";

const MAX_PAUSE = 8000; // milliseconds between two attempts

export const lost = new Signal(false);
let retryNow: () => void = () => undefined;

export function markConnected(): void {
  lost.set(false);
}

export function markLost(): void {
  if (lost.value) return;
  lost.set(true);
  void poll();
}

export function retry(): void {
  retryNow();
}

async function poll(): Promise<void> {
  for (let pause = 500; lost.value; pause = Math.min(2 * pause, MAX_PAUSE)) {
    await new Promise<void>((resolve) => {
      retryNow = resolve;
      setTimeout(resolve, pause);
    });
    try {
      if ((await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(MAX_PAUSE) })).ok) markConnected();
    } catch {
      // still no connection
    }
  }
}

addEventListener("online", retry);

/** Resolves when the server responds (again). */
export function connected(): Promise<void> {
  return lost.when((away) => !away);
}

/** Resolves when the page is visible. */
export async function visible(): Promise<void> {
  while (document.hidden) {
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
}
