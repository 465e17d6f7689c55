// Whether the server answers. When it does not, one loop asks until it does; views wait for that.
import { Signal } from "./signal.ts";

const LONGEST_PAUSE = 8000; // milliseconds between two attempts

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
  for (let pause = 500; lost.value; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    await new Promise<void>((resolve) => {
      retryNow = resolve;
      setTimeout(resolve, pause);
    });
    try {
      if ((await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(LONGEST_PAUSE) })).ok) heard();
    } catch {
      // still away
    }
  }
}

addEventListener("online", () => askNow());
