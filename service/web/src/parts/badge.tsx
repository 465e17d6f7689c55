import type { ComponentChildren } from "preact";
import type { JobSummary } from "../api/types.ts";
import { stateWords, tone } from "../words.ts";

export function StateBadge({ job }: { job: Pick<JobSummary, "state" | "stop_reason"> }) {
  return <span class={`badge ${tone(job)}`}>{stateWords(job)}</span>;
}

export function Fact({ name, children, title }: { name: string; children: ComponentChildren; title?: string }) {
  return <div class="fact" title={title}><dt>{name}</dt><dd>{children}</dd></div>;
}
