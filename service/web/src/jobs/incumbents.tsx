// Shows one of a job's trees and what changed since the one before.
import { useMemo } from "preact/hooks";
import type { Dataset } from "../api/types.ts";
import { counted, number } from "../format.ts";
import { IconButton } from "../parts/icons.tsx";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { changes, changeWords, depthOf, leafCount } from "../tree/shape.ts";
import { TreeView } from "../tree/view.tsx";
import { ended, title } from "../words.ts";
import type { JobFeed } from "./feed.ts";
import { MakeModel } from "./make-model.tsx";
import { foundAt, foundWords } from "./moments.ts";
import type { Shown } from "./shown.ts";

interface Props {
  feed: JobFeed;
  dataset: Dataset | undefined;
  revision: number; // of the chosen tree
  shown: Shown | undefined; // the chosen tree, or until it is loaded the one before
  error: unknown;
  onChoose: (revision: number) => void;
}

export function Incumbents({ feed, dataset, revision, shown, error, onChoose }: Props) {
  const job = feed.job!;
  if (!job.progress.incumbents) {
    return ended(job.state)
      ? <Empty title="No tree was found" />
      : <Empty title="No tree yet"><p>The first tree appears here as soon as it is found, usually within a second.</p></Empty>;
  }
  return (
    <>
      <Scrubber {...{ feed, revision, onChoose }} kept={error === undefined} />
      {error !== undefined ? <Failure error={error} /> : shown ? <Frame {...{ feed, shown, dataset }} /> : <Loading what="Loading the tree" />}
    </>
  );
}

/** Chooses one of the job's trees. The first of very many trees are not kept. */
function Scrubber({ feed, revision, kept, onChoose }: Pick<Props, "feed" | "revision" | "onChoose"> & { kept: boolean }) {
  const first = feed.scores[0]?.revision ?? 1;
  const newest = feed.job!.progress.incumbents;
  return (
    <div class="row scrub">
      <IconButton name="back" label="Earlier tree" disabled={revision <= first} onClick={() => onChoose(revision - 1)} />
      <input
        type="range" min={first} max={newest} value={revision} disabled={first >= newest} aria-label="Tree of the job"
        aria-valuetext={`Tree ${revision} of ${newest}`} onInput={(event) => onChoose(Number(event.currentTarget.value))}
      />
      <IconButton name="forward" label="Later tree" disabled={revision >= newest} onClick={() => onChoose(revision + 1)} />
      <strong class="figure">Tree {revision} of {newest}</strong>
      {revision < newest && <button type="button" class="small" onClick={() => onChoose(newest)}>Show the newest</button>}
      {kept && <MakeModel job={feed.job!} revision={revision} />}
    </div>
  );
}

function Frame({ feed, shown, dataset }: Pick<Props, "feed" | "dataset"> & { shown: Shown }) {
  const { before, incumbent: { revision, tree, objective } } = shown;
  const marked = useMemo(() => changes(before?.tree, tree), [shown]);
  const found = foundAt(feed.improvements, shown.incumbent);
  const words = before
    ? `Cost ${number(before.objective)} to ${number(objective)}: ${changeWords(marked) || "the same shape"}.`
    : revision === 1 ? "The first tree." : `Cost ${number(objective)}.`;
  return (
    <>
      <p class="quiet">{found !== null && `Found ${found < 0.001 ? "within 1 ms" : `after ${foundWords(found)}`}. `}{words} {counted(leafCount(tree), "leaf", "leaves")}, depth {depthOf(tree)}.</p>
      <TreeView tree={tree} dataset={dataset} changes={marked} rowsOf={`/v1/jobs/${feed.id}/incumbent?revision=${revision}`} name={`${title(feed.job!)} tree ${revision}`} />
    </>
  );
}
