// The card of a sweep that has not ended.
import type { SweepSummary } from "../api/types.ts";
import { count, moment, seconds } from "../format.ts";
import { Fact } from "../parts/badge.tsx";
import { METRICS, sweepState, sweepTone } from "./sweep-words.ts";

export function SweepCard({ sweep, name }: { sweep: SweepSummary; name: string }) {
  const { progress } = sweep;
  return (
    <li class="card">
      <div class="row">
        <h3><a href={`#/sweeps/${sweep.id}`}>{name}</a></h3>
        <span class={`badge ${sweepTone(sweep.state)}`}>{sweepState(sweep).words}</span>
      </div>
      <div class="explored">
        <progress class="explored-bar" max={progress.jobs || 1} value={progress.done} aria-label="Jobs that are done" />
        <p class="quiet">{count(progress.done)} of {count(progress.jobs)} jobs done{progress.failed > 0 && `, ${count(progress.failed)} failed`}</p>
      </div>
      <dl class="facts">
        <Fact name="Settings">{count(progress.settings)}</Fact>
        <Fact name="Folds">{count(sweep.n_folds)}</Fact>
        <Fact name="Metric">{METRICS[sweep.metric]}</Fact>
        <Fact name="Search time">{seconds(sweep.seconds)}</Fact>
      </dl>
      <div class="row quiet"><span class="push">{moment(sweep.created_at)}</span></div>
    </li>
  );
}
