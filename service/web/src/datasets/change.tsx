// Makes a new dataset of the same file with other roles or types.
import { useState } from "preact/hooks";
import type { Dataset, DatasetSummary, ProblemFix } from "../api/types.ts";
import { DropZone } from "../parts/drop.tsx";
import { Draft } from "./draft.tsx";
import { optionsOf } from "./options.ts";
import { uploaded } from "./upload.ts";

interface Props {
  dataset: Dataset;
  others: DatasetSummary[];
  fix: ProblemFix | null; // to apply at first
  onClose: () => void;
}

export function Change({ dataset, others, fix, onClose }: Props) {
  const known = uploaded.get(dataset.id);
  const [file, setFile] = useState(known?.file);
  if (file) {
    return <Draft file={file} base={dataset} initial={known?.options ?? optionsOf(dataset)} fix={fix} others={others} onCancel={onClose} />;
  }
  return (
    <section class="panel">
      <h2>Change roles or types</h2>
      {fix && <p>{fix.label.replaceAll("`", "")}</p>}
      <p class="quiet">Choose the file again. The server stores only the table, not the file. A new dataset is made, and this one stays.</p>
      <div class="row note">
        <DropZone accept=".csv,.tsv,.txt,.parquet,text/csv" label="Choose the file" onFile={setFile} />
        <button type="button" onClick={onClose}>Cancel</button>
      </div>
    </section>
  );
}
