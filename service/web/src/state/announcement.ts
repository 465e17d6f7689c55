import { Signal } from "./signal.ts";

/** The last announcement for screen readers. */
export const announcement = new Signal("");
