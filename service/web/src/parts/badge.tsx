import type { Job } from "../api/types.ts";
import { stateWords, tone } from "../words.ts";

export function StateBadge({ job }: { job: Pick<Job, "state" | "stop_reason"> }) {
  return <span class={`badge ${tone(job)}`}>{stateWords(job)}</span>;
}

export function Fact({ name, children, title }: { name: string; children: preact.ComponentChildren; title?: string }) {
  return <div class="fact" title={title}><dt>{name}</dt><dd>{children}</dd></div>;
}
