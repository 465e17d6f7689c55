// The connection state. When the server does not respond, one loop polls until it does.
import { Signal } from "./signal.ts";

const MAX_PAUSE = 8000; // milliseconds between two attempts

export const lost = new Signal(false);
let retryNow: () => void = () => undefined;

export function heard(): void {
  lost.set(false);
}

export function notHeard(): void {
  if (lost.value) return;
  lost.set(true);
  void ask();
}

export function askNow(): void {
  retryNow();
}

async function ask(): Promise<void> {
  for (let pause = 500; lost.value; pause = Math.min(2 * pause, MAX_PAUSE)) {
    await new Promise<void>((resolve) => {
      retryNow = resolve;
      setTimeout(resolve, pause);
    });
    try {
      if ((await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(MAX_PAUSE) })).ok) heard();
    } catch {
      // still no connection
    }
  }
}

addEventListener("online", () => askNow());
