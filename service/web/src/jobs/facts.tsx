// The figures of a job: those of the shown tree, and those of the search.
import type { Metrics } from "../api/types.ts";
import { bytes, count, number, orDash, percent, seconds } from "../format.ts";
import { Fact } from "../parts/fact.tsx";
import { accuracyWords, gapWords, intervalWords, lowerBoundWords, unbounded } from "../quality/sentences.ts";
import { depthOf, leafCount } from "../tree/shape.ts";
import { BEYOND_SPACE, ended, spaceWords } from "../words.ts";
import type { JobFeed } from "./feed.ts";
import { foundAt, foundWords } from "./moments.ts";
import type { Shown } from "./shown.ts";

const NO_BOUND = "The search has not proven a lower bound of the cost of a tree";

interface Props { feed: JobFeed; shown: Shown | undefined; metrics: Metrics | undefined }

export function Facts({ feed, shown, metrics }: Props) {
  const { progress, state } = feed.job!;
  const open = unbounded(progress);
  return (
    <div class="job-facts">
      {shown && <TreeFacts {...{ shown, metrics, feed }} />}
      <dl class="facts" aria-label="Search">
        <Fact name="Upper bound" title="The cost of the best tree that the search has found">
          {orDash(progress.upper_bound, number)}
        </Fact>
        <Fact name="Lower bound" title={open ? NO_BOUND : progress.space ? `It is proven that no tree over ${spaceWords(progress.space)} costs less` : undefined}>
          {lowerBoundWords(progress, !ended(state))}
        </Fact>
        <Fact name="Gap" title={open ? NO_BOUND : "The maximum distance to the best tree of the search space"}>
          {gapWords(progress)}
        </Fact>
        <Fact name="Expansions" title="The number of search steps">{count(progress.expansions)}</Fact>
        <Fact name="Expansions/s">{orDash(feed.trace.rate(), count)}</Fact>
        <Fact name="Memory" title="The memory that the search uses">{bytes(progress.memory_bytes)}</Fact>
        <Fact name="Search time">{seconds(progress.elapsed_seconds)}</Fact>
        <Fact name="Trees found">{count(progress.incumbents)}</Fact>
      </dl>
    </div>
  );
}

function TreeFacts({ shown: { incumbent }, metrics, feed }: Props & { shown: Shown }) {
  const { tree, objective, revision } = incumbent;
  const beyond = objective < (feed.job!.progress.upper_bound ?? 0);
  const held = metrics?.validation;
  return (
    <dl class="facts" aria-label={`Tree ${revision}`}>
      <Fact name="Cost of the tree" title={`The weight of the misclassified rows plus penalties${beyond ? `. ${BEYOND_SPACE}` : ""}`}>
        {number(objective)}
      </Fact>
      {held && <Fact name="Held-back accuracy" title={intervalWords(held)}>{accuracyWords(held)}</Fact>}
      <Fact name="Training accuracy">{orDash(metrics?.train_accuracy, percent)}</Fact>
      <Fact name="Leaves">{leafCount(tree)}</Fact>
      <Fact name="Depth">{depthOf(tree)}</Fact>
      <Fact name="Found after">{orDash(foundAt(feed.improvements, incumbent), foundWords)}</Fact>
    </dl>
  );
}
