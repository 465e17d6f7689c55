// Whether a model that a job or a sweep made still exists.
import { ifFound, request } from "../api/client.ts";
import { changes } from "../state/removal.ts";
import { useResource } from "../state/resource.ts";
import { useSignal } from "../state/signal.ts";

/** Returns the id, or null if that model is deleted: jobs and sweeps keep the id. Until that is known, the model counts as there. */
export function useModelId(id: string | null): string | null {
  const change = useSignal(changes);
  const found = useResource(`${id} ${change}`, async (signal) =>
    id !== null && (await ifFound(request(`/v1/models/${id}`, { method: "HEAD", signal }))) !== undefined);
  return found.value === false ? null : id;
}
