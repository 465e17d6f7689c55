// Amber notices about a tree that may not be good on new rows, with ways out.
import type { Metrics, Parameters } from "../api/types.ts";
import { Icon } from "../parts/icons.tsx";
import { doubts, type Way } from "./doubts.ts";
import { measured } from "./sentences.ts";

interface Props {
  metrics: Metrics;
  jobId?: string;
  datasetId: string;
  parameters?: Pick<Parameters, "split_penalty" | "probability_smoothing">; // of the job, to propose larger ones
}

const FIRST_PENALTY = 0.005; // of the training weight, if there was none

export function Notices(props: Props) {
  const found = doubts(props.metrics);
  if (!found.length) return null;
  const ways = new Map(found.flatMap((doubt) => doubt.ways).map((way) => linkOf(way, props)));
  return (
    <div class="notice warn doubts" role="group" aria-label="Reasons to doubt this tree">
      <Icon name="warning" />
      <div>
        <ul>{found.map(({ text }) => <li>{text}</li>)}</ul>
        <p class="row">{[...ways].map(([words, href]) => <a class="button small" href={href}>{words}</a>)}</p>
      </div>
    </div>
  );
}

/** Returns the words and the address of a way out. */
function linkOf(way: Way, { metrics, jobId, datasetId, parameters }: Props): [string, string] {
  // The job may be deleted, and then the dataset is what is left of it.
  const again = `#/train?${jobId ? `from=${jobId}&` : ""}dataset=${datasetId}`;
  if (way === "penalty") {
    const penalty = parameters?.split_penalty;
    const larger = penalty ? 2 * penalty : Math.max(1, Math.round(FIRST_PENALTY * measured(metrics.train).total));
    return ["Search with a larger penalty", `${again}&split_penalty=${larger}`];
  }
  if (way === "smoothing") {
    return ["Search with more smoothing", `${again}&probability_smoothing=${2 * (parameters?.probability_smoothing || 0.5)}`];
  }
  if (way === "tune") return ["Tune the parameters", `#/train?dataset=${datasetId}&tune=1`];
  return [`Leave out the column ${way.leaveOut}`, `#/datasets/${datasetId}?drop=${encodeURIComponent(way.leaveOut)}`];
}
