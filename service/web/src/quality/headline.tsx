// The first sentences about a tree: how often it is wrong on which rows, and what is proven.
import type { Metrics } from "../api/types.ts";
import { counted, number } from "../format.ts";
import {
  aboutProof, accuracyWords, comparisonWords, intervalWords, NOTHING_HELD_BACK, type Proof, proofSentence, trainingWords,
} from "./sentences.ts";

interface Props {
  metrics: Metrics;
  proof: Proof;
  datasetName?: string;
  running?: boolean; // the search goes on
  later?: { revision: number; objective: number }; // a better tree of the same job; the proof is about that one
}

export function Headline({ metrics, proof, datasetName, running, later }: Props) {
  if (!metrics.train) return null; // records of tests and of old versions have no scores
  const held = metrics.validation;
  const about = later ? "" : aboutProof(proof);
  return (
    <div class="headline">
      <p class="headline-main">
        {trainingWords(metrics.train, datasetName)}
        {held && (
          <>, <strong title={intervalWords(held)}>{accuracyWords(held)} right on {counted(held.rows, "held-back row")}</strong>{comparisonWords(metrics.baselines)}</>
        )}
        {!held && <>. <strong>{NOTHING_HELD_BACK}</strong></>}
        {". "}
        {later
          ? `Tree ${later.revision} of this job costs ${number(later.objective)} instead of ${number(proof.objective)}.`
          : proofSentence(metrics, proof, running)}
      </p>
      {about && <p class="quiet">{about}</p>}
    </div>
  );
}
