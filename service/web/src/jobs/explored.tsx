// How much of the search space a job has explored, as a bar and in words.
import type { Job, JobSummary } from "../api/types.ts";
import { capitalized, roughly, roughPercent } from "../format.ts";
import { ended, spaceWords } from "../words.ts";

/** Says how long the proof takes, and whether the time limit comes before it. */
function timeWords(job: Job): string {
  const { progress, limits } = job;
  const left = progress.seconds_left;
  if (left === null || left === undefined) return "the time left cannot be estimated yet";
  const limit = limits.time_limit === null ? Infinity : limits.time_limit - progress.elapsed_seconds;
  if (left <= limit) return `about ${roughly(left)} left${staged(job) ? " in this stage" : ""} (estimate)`;
  return `exploring the rest takes about ${roughly(left)} (estimate), but the time limit comes first`;
}

/** The sentences under the bar. */
function exploredWords(job: Job): string {
  const { explored } = job.progress;
  const over = ended(job.state);
  const space = staged(job) ? `stage ${job.progress.stage + 1} of the search` : "the search space";
  if (explored === null) return "";
  if (explored >= 1) return `All of ${space} ${over ? "was" : "is"} explored.`;
  const share = explored === 0 ? "Nothing" : explored < 0.001 ? capitalized(roughPercent(explored)) : `About ${roughPercent(explored)}`;
  const done = `${share} of ${space} ${over ? "was" : "is"} explored`;
  return job.state === "RUNNING" ? `${done}; ${timeWords(job)}.` : `${done}.`;
}

/** Returns whether the job searches ever wider spaces, one after another. */
function staged(job: Job): boolean {
  return job.progress.stage > 0 || job.parameters.candidates === "widening";
}

/** Says which space the bounds are about, and what is proven, if the job searches ever wider spaces. */
function stageWords(job: Job): string {
  if (!staged(job) || !job.progress.space) return "";
  const proven = job.proven_space ? ` Proven so far: the best tree over ${spaceWords(job.proven_space)}.` : "";
  return `The bounds are about trees over ${spaceWords(job.progress.space)}.${job.proven_optimal ? "" : proven}`;
}

function Bar({ share }: { share: number }) {
  return <progress class="explored-bar" max={1} value={share} aria-label="Explored share of the search space" />;
}

/** The bar of a job's own view, with sentences. */
export function Explored({ job }: { job: Job }) {
  const { explored, incumbents } = job.progress;
  if (explored === null || incumbents === 0) return null;
  return (
    <div class="explored">
      <Bar share={explored} />
      <p>{exploredWords(job)} <span class="quiet">{stageWords(job)}</span></p>
    </div>
  );
}

/** The bar of a card in the list. */
export function ExploredLine({ job }: { job: JobSummary }) {
  const { explored, incumbents } = job.progress;
  if (explored === null || incumbents === 0) return null;
  return (
    <div class="explored">
      <Bar share={explored} />
      <p class="quiet">{roughPercent(explored)} explored</p>
    </div>
  );
}
