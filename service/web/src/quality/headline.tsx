// The first sentences about a tree: how often it is wrong on which rows, and what is proven.
import type { Metrics } from "../api/types.ts";
import { number } from "../format.ts";
import {
  aboutProof, comparisonWords, heldBackWords, intervalWords, NOTHING_HELD_BACK, type Proof, proofSentence, trainingWords,
} from "./sentences.ts";

interface Props {
  metrics: Metrics; // in the records of version 0.1.0 some of it is missing
  proof: Proof;
  datasetName?: string;
  running?: boolean; // the search goes on
  later?: { revision: number; objective: number }; // a better tree of the same job; the proof is about that one
}

export function Headline({ metrics, proof, datasetName, running, later }: Props) {
  const held = metrics.validation;
  const about = later ? "" : aboutProof(proof);
  return (
    <div class="headline">
      <p class="headline-main">
        {metrics.train && trainingWords(metrics.train, datasetName)}
        {held && (
          <>, <strong title={intervalWords(held)}>{heldBackWords(held)}</strong>{comparisonWords(metrics.baselines)}</>
        )}
        {metrics.train && !held && <>. <strong>{NOTHING_HELD_BACK}</strong></>}
        {metrics.train && ". "}
        {later
          ? `Tree ${later.revision} of this job costs ${number(later.objective)} instead of ${number(proof.objective)}.`
          : proofSentence(metrics, proof, running)}
      </p>
      {about && <p class="quiet">{about}</p>}
    </div>
  );
}
