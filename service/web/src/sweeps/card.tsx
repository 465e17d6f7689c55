// A sweep in a list, as a card.
import type { SweepSummary } from "../api/types.ts";
import { moment, orDash, seconds } from "../format.ts";
import { Fact } from "../parts/fact.tsx";
import { JobsBar, SweepBadge } from "./progress.tsx";
import { meanCount, METRICS, progressWords, scoreRange } from "./words.ts";

export function SweepCard({ sweep, name }: { sweep: SweepSummary; name: string }) {
  const { choice, metric } = sweep;
  return (
    <li class="card sweep-card">
      <div class="row">
        <h3><a href={`#/sweeps/${sweep.id}`}>{name}</a></h3>
        <SweepBadge sweep={sweep} />
      </div>
      <JobsBar sweep={sweep} />
      <p class="quiet">{progressWords(sweep)}</p>
      {sweep.error && <p class="error">{sweep.error.message}</p>}
      <dl class="facts">
        <Fact name={METRICS[metric].name}>{choice ? scoreRange(metric, choice.mean, choice.standard_error) : "–"}</Fact>
        <Fact name="Leaves">{orDash(choice?.leaves, meanCount)}</Fact>
        <Fact name="Time">{seconds(sweep.seconds)}</Fact>
      </dl>
      <p class="row quiet"><span class="push">{moment(sweep.created_at)}</span></p>
    </li>
  );
}
