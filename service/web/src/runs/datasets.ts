// The names of datasets, for tables of runs.
import { useMemo } from "preact/hooks";
import { getAll } from "../api/client.ts";
import type { DatasetSummary } from "../api/types.ts";
import { useResource } from "../state/resource.ts";
import { title } from "../words.ts";

const MAX_NAMES = 2000;

/** The names by id. Before they are loaded, and for deleted datasets, there is none. */
export function useDatasetNames(): Map<string, string> {
  const datasets = useResource("dataset names", (signal) => getAll<DatasetSummary>("/v1/datasets", signal, MAX_NAMES));
  return useMemo(() => new Map(datasets.value?.map((dataset) => [dataset.id, title(dataset)])), [datasets.value]);
}
