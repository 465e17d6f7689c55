// The jobs of sweeps, which only a request for each sweep lists.
import { useEffect, useRef, useState } from "preact/hooks";
import { LostError } from "../api/client.ts";
import type { JobSummary, SweepSummary } from "../api/types.ts";
import { connected } from "../state/connection.ts";
import { MAX_RECORDS, readPages } from "./records.ts";

interface Loaded { progress: string; jobs: JobSummary[] }

const progressOf = (sweep: SweepSummary) => Object.values(sweep.progress).join(" ");

/**
 * Loads the jobs of one sweep after the other, and then again those of sweeps whose progress has changed. A change does not
 * stop what is being loaded, so that the jobs appear also while many sweeps run.
 */
export function useSweepJobs(sweeps: SweepSummary[], wanted: boolean): { jobs: JobSummary[]; error?: unknown } {
  const [state, setState] = useState<{ jobs: JobSummary[]; error?: unknown }>({ jobs: [] });
  const listed = useRef(sweeps);
  const known = useRef(new Map<string, Loaded>());
  const wake = useRef<() => void>(() => undefined);
  listed.current = sweeps;

  useEffect(() => {
    if (!wanted) return undefined;
    const stop = new AbortController();
    const all = () => listed.current.flatMap(({ id }) => known.current.get(id)?.jobs ?? []).slice(0, MAX_RECORDS);
    const outdated = () => listed.current.find((sweep) => known.current.get(sweep.id)?.progress !== progressOf(sweep));
    const load = async (sweep: SweepSummary) => {
      const jobs: JobSummary[] = [];
      await readPages<JobSummary>(`/v1/jobs?sweep_id=${sweep.id}`, stop.signal, (items) => jobs.push(...items) >= MAX_RECORDS);
      known.current.set(sweep.id, { progress: progressOf(sweep), jobs });
      setState({ jobs: all() });
    };
    const follow = async () => {
      while (!stop.signal.aborted) {
        const sweep = all().length < MAX_RECORDS ? outdated() : undefined;
        if (!sweep) await new Promise<void>((resolve) => void (wake.current = resolve));
        else {
          try {
            await load(sweep);
          } catch (error) {
            if (stop.signal.aborted) return;
            setState((old) => ({ ...old, error }));
            if (!(error instanceof LostError)) return;
            await connected();
          }
        }
      }
    };
    void follow();
    return () => {
      stop.abort();
      wake.current();
    };
  }, [wanted]);
  useEffect(() => wake.current(), [sweeps]);
  return state;
}
