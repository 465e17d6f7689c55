// Several jobs side by side.
import { ViewHead } from "../parts/head.tsx";
import { JobView } from "./view.tsx";

export const MAX_TOGETHER = 3; // each needs a stream, and a browser opens only six connections

export function Together({ ids }: { ids: string[] }) {
  return (
    <>
      <ViewHead
        title="Compare jobs" list="Jobs"
        about={ids.length > MAX_TOGETHER && `At most ${MAX_TOGETHER} jobs can be shown side by side. These are the first ${MAX_TOGETHER} of ${ids.length}.`}
      />
      <div class="together">{ids.slice(0, MAX_TOGETHER).map((id) => <JobView key={id} id={id} alone={false} />)}</div>
    </>
  );
}
