// Shows one of a job's trees and what changed since the one before.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Dataset, Incumbent } from "../api/types.ts";
import { number, seconds } from "../format.ts";
import { IconButton } from "../parts/icons.tsx";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { changes, changeWords, depthOf, leafCount, proofWords } from "../tree/shape.ts";
import { TreeView } from "../tree/view.tsx";
import { ended, title } from "../words.ts";
import type { JobFeed } from "./feed.ts";
import { momentOf } from "./moments.ts";

interface Shown { incumbent: Incumbent; before: Incumbent | undefined }

export function Incumbents(
  { feed, dataset, chosen, onChoose }:
  { feed: JobFeed; dataset: Dataset | undefined; chosen: number | null; onChoose: (revision: number | null) => void },
) {
  const job = feed.job!;
  const newest = job.progress.incumbents;
  const revision = chosen ?? newest;
  const [shown, setShown] = useState<Shown>();
  const [error, setError] = useState<unknown>();
  const over = ended(job.state);

  useEffect(() => {
    if (!revision) return undefined;
    let current = true;
    setError(undefined);
    void load(feed, revision, newest).then(
      (found) => current && setShown(found), (refused) => current && setError(refused),
    );
    return () => void (current = false);
  }, [feed, revision, newest, over]);

  if (!newest) {
    return over
      ? <Empty title="No tree was found" />
      : <Empty title="No tree yet"><p>The first tree appears here as soon as it is found, usually within a second.</p></Empty>;
  }
  if (error !== undefined) return <Failure error={error} />;
  if (!shown) return <Loading what="Loading the tree" />;
  const place = feed.improvements.findIndex((entry) => entry.revision === shown.incumbent.revision);
  const found = place < 0 ? null : momentOf(feed.trace, feed.improvements, place);
  return <Frame {...{ shown, found, newest, over, dataset, onChoose, name: title(job), address: `/v1/jobs/${job.id}/incumbent` }} />;
}

async function load(feed: JobFeed, revision: number, newest: number): Promise<Shown> {
  // The newest tree has its current bounds, earlier trees have their first ones.
  const chosen = revision === newest ? feed.best() : feed.tree(revision);
  const [incumbent, before] = await Promise.all([chosen, revision > 1 ? feed.tree(revision - 1) : undefined]);
  return { incumbent, before };
}

interface FrameProps {
  shown: Shown; found: number | null; newest: number; over: boolean; dataset: Dataset | undefined; name: string; address: string;
  onChoose: (revision: number | null) => void;
}

function Frame({ shown, found, newest, over, dataset, name, address, onChoose }: FrameProps) {
  const { before, incumbent: { revision, tree, objective } } = shown;
  const marked = useMemo(() => changes(before?.tree, tree), [shown]);
  const choose = (next: number) => onChoose(next >= newest ? null : next);
  const words = before
    ? `Cost ${number(before.objective)} to ${number(objective)}: ${changeWords(marked) || "the same shape"}.`
    : "The first tree.";
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
        </div>
        <p class="quiet">{found !== null && `Found ${found < 0.001 ? "within 1 ms" : `after ${seconds(found)}`}. `}{words} {leafCount(tree)} leaves, depth {depthOf(tree)}.</p>
      </div>
      <TreeView tree={tree} dataset={dataset} changes={marked} rowsOf={`${address}?revision=${revision}`} name={`${name} tree ${revision}`}>
        {(over || revision < newest) && <span class="quiet">{proofWords(tree)}</span>}
      </TreeView>
    </>
  );
}
