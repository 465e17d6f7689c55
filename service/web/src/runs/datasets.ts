// The names of datasets, for tables of runs.
import { useMemo } from "preact/hooks";
import type { DatasetSummary } from "../api/types.ts";
import { useResource } from "../state/resource.ts";
import { title } from "../words.ts";
import { readPages } from "./records.ts";

const MAX_NAMES = 2000;

export interface DatasetNames {
  get(id: string): string | undefined;
  loaded: boolean;
  complete: boolean; // a dataset without a name is deleted; otherwise it may be one of those that are not loaded
}

export function useDatasetNames(): DatasetNames {
  const datasets = useResource("dataset names", async (signal) => {
    const items: DatasetSummary[] = [];
    const complete = await readPages<DatasetSummary>("/v1/datasets", signal, (page) => items.push(...page) >= MAX_NAMES);
    return { items, complete };
  });
  const { value } = datasets;
  return useMemo(() => {
    const names = new Map(value?.items.map((dataset) => [dataset.id, title(dataset)]));
    return { get: (id) => names.get(id), loaded: value !== undefined, complete: value?.complete ?? false };
  }, [value]);
}

/** Returns the name of a dataset, or what is known without it. */
export function datasetWords(names: DatasetNames, id: string): string {
  return names.get(id) ?? (names.complete ? `Deleted (${shortId(id)})` : shortId(id));
}

function shortId(id: string): string {
  return id.slice(0, id.indexOf("_") + 7);
}
