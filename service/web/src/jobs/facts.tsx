// The figures of a job.
import type { Job, Metrics } from "../api/types.ts";
import { bytes, count, number, orDash, percent, seconds } from "../format.ts";
import { Fact } from "../parts/badge.tsx";
import { BEYOND_SPACE, spaceWords } from "../words.ts";

export function Facts({ job, rate }: { job: Job; rate: number | null }) {
  const { progress } = job;
  return (
    <dl class="facts job-facts">
      <Fact name="Cost of the tree" title={`The weight of the misclassified rows plus penalties${progress.beyond_space ? `. ${BEYOND_SPACE}` : ""}`}>
        {orDash(progress.objective, number)}
      </Fact>
      <Fact name="Upper bound" title="The cost of the best tree that the search has found">
        {orDash(progress.upper_bound, number)}
      </Fact>
      <Fact name="Lower bound" title={progress.space ? `It is proven that no tree over ${spaceWords(progress.space)} costs less` : undefined}>
        {orDash(progress.lower_bound, number)}
      </Fact>
      <Fact name="Gap" title="The maximum distance to the best tree of the search space">
        {orDash(progress.gap_relative, percent)}
      </Fact>
      <Fact name="Expansions" title="The number of search steps">{count(progress.expansions)}</Fact>
      <Fact name="Expansions/s">{orDash(rate, count)}</Fact>
      <Fact name="Memory" title="The memory that the search uses">{bytes(progress.memory_bytes)}</Fact>
      <Fact name="Search time">{seconds(progress.elapsed_seconds)}</Fact>
      <Fact name="Trees found">{count(progress.incumbents)}</Fact>
    </dl>
  );
}

/** Compares the accuracy of the best tree with CART and with the most frequent class. */
export function Accuracy({ metrics }: { metrics: Partial<Metrics> | null }) {
  if (metrics?.train_accuracy == null) return null;
  const held = metrics.validation_accuracy != null;
  const { cart, majority } = metrics.baselines ?? {};
  const cellOf = (value: number | null | undefined) => <td class="right">{orDash(value, percent)}</td>;
  return (
    <table class="list compact accuracy">
      <thead>
        <tr><th scope="col">Accuracy</th><th scope="col" class="right">Training rows</th>{held && <th scope="col" class="right">Held-back rows</th>}</tr>
      </thead>
      <tbody>
        <tr class="strong"><th scope="row">This tree</th>{cellOf(metrics.train_accuracy)}{held && cellOf(metrics.validation_accuracy)}</tr>
        {cart && <tr><th scope="row">CART of the same depth</th>{cellOf(cart.train?.accuracy)}{held && cellOf(cart.validation?.accuracy)}</tr>}
        {majority && <tr><th scope="row">Most frequent class</th>{cellOf(majority.train?.accuracy)}{held && cellOf(majority.validation?.accuracy)}</tr>}
      </tbody>
    </table>
  );
}
