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
  shown: Shown | undefined;
  error: unknown;
  onChoose: (revision: number | null) => void;
}

export function Incumbents({ feed, dataset, shown, error, onChoose }: Props) {
  const job = feed.job!;
  const newest = job.progress.incumbents;
  if (!newest) {
    return ended(job.state)
      ? <Empty title="No tree was found" />
      : <Empty title="No tree yet"><p>The first tree appears here as soon as it is found, usually within a second.</p></Empty>;
  }
  if (error !== undefined) return <Failure error={error} />;
  if (!shown) return <Loading what="Loading the tree" />;
  return <Frame {...{ feed, shown, newest, dataset, onChoose }} />;
}

function Frame({ feed, shown, newest, dataset, onChoose }: Omit<Props, "shown" | "error"> & { shown: Shown; newest: number }) {
  const { before, incumbent: { revision, tree, objective } } = shown;
  const marked = useMemo(() => changes(before?.tree, tree), [shown]);
  const found = foundAt(feed.improvements, shown.incumbent);
  const choose = (next: number) => onChoose(next >= newest ? null : next);
  const words = before
    ? `Cost ${number(before.objective)} to ${number(objective)}: ${changeWords(marked) || "the same shape"}.`
    : revision === 1 ? "The first tree." : `Cost ${number(objective)}.`;
  return (
    <>
      <div class="scrub">
        <div class="row">
          <IconButton name="back" label="Earlier tree" disabled={revision <= 1} onClick={() => choose(revision - 1)} />
          <input
            type="range" min={1} max={newest} value={revision} disabled={newest < 2} aria-label="Tree of the job"
            aria-valuetext={`Tree ${revision} of ${newest}`} onInput={(event) => choose(Number(event.currentTarget.value))}
          />
          <IconButton name="forward" label="Later tree" disabled={revision >= newest} onClick={() => choose(revision + 1)} />
          <strong class="figure">Tree {revision} of {newest}</strong>
          {revision < newest && <button type="button" class="small" onClick={() => onChoose(null)}>Show the newest</button>}
          <MakeModel job={feed.job!} revision={revision} />
        </div>
        <p class="quiet">{found !== null && `Found ${found < 0.001 ? "within 1 ms" : `after ${foundWords(found)}`}. `}{words} {counted(leafCount(tree), "leaf", "leaves")}, depth {depthOf(tree)}.</p>
      </div>
      <TreeView tree={tree} dataset={dataset} changes={marked} rowsOf={`/v1/jobs/${feed.id}/incumbent?revision=${revision}`} name={`${title(feed.job!)} tree ${revision}`} />
    </>
  );
}
