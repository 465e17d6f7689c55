// The state of a job as a coloured label.
import type { JobSummary } from "../api/types.ts";
import { stateWords, tone } from "../words.ts";

export function StateBadge({ job }: { job: Pick<JobSummary, "state" | "stop_reason"> }) {
  return <span class={`badge ${tone(job)}`}>{stateWords(job)}</span>;
}
