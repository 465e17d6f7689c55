// The tree of a job that the view shows: the chosen one or the newest.
import { useEffect, useState } from "preact/hooks";
import { LostError } from "../api/client.ts";
import type { Incumbent, Job, Metrics } from "../api/types.ts";
import type { Proof } from "../quality/sentences.ts";
import { connected } from "../state/connection.ts";
import { ended } from "../words.ts";
import type { JobFeed } from "./feed.ts";

export interface Shown { incumbent: Incumbent; before: Incumbent | undefined }

const PAUSE = 80; // milliseconds: who moves on quickly does not load every tree on the way

/** Loads the chosen tree and the one before it. The last one stays until the next is there or cannot be loaded. */
export function useShownTree(feed: JobFeed, chosen: number | null): { revision: number; shown?: Shown; error?: unknown } {
  const newest = feed.job?.progress.incumbents ?? 0;
  const revision = chosen === null ? newest : Math.min(chosen, newest);
  const over = feed.job ? ended(feed.job.state) : false;
  const [found, setFound] = useState<{ shown?: Shown; error?: unknown }>({});
  useEffect(() => {
    if (!revision) return undefined;
    let current = true;
    const attempt = async (): Promise<void> => {
      try {
        const shown = await load(feed, revision, newest);
        if (current) setFound({ shown });
      } catch (error) {
        if (!current) return;
        const lost = error instanceof LostError;
        setFound((old) => (lost && old.shown ? old : { error }));
        if (!lost) return;
        await connected();
        if (current) void attempt();
      }
    };
    const timer = setTimeout(() => void attempt(), found.shown ? PAUSE : 0);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [feed, revision, newest, over]);
  return { revision, ...found };
}

async function load(feed: JobFeed, revision: number, newest: number): Promise<Shown> {
  // The newest tree has its current bounds, earlier trees have their first ones.
  const chosen = revision === newest ? feed.best() : feed.tree(revision);
  const [incumbent, before] = await Promise.all([chosen, revision > 1 ? beforeIt(feed, revision) : undefined]);
  return { incumbent, before };
}

/** The tree before may be deleted already: the first trees of very many are not kept. */
async function beforeIt(feed: JobFeed, revision: number): Promise<Incumbent | undefined> {
  return feed.tree(revision - 1).catch((error: unknown) => {
    if (error instanceof LostError) throw error;
    return undefined;
  });
}

/** Returns the metrics of the tree, with CART even if it was fitted only after the tree was found. */
export function metricsOf({ incumbent }: Shown, job: Job): Metrics {
  if (job.metrics && incumbent.revision === job.progress.incumbents) return job.metrics;
  const { metrics } = incumbent;
  const cart = metrics.baselines?.cart ?? job.metrics?.baselines?.cart;
  return cart ? { ...metrics, baselines: { ...metrics.baselines, cart } } : metrics;
}

/** Returns what is known now about the tree; the bounds of the job are newer than those of the tree. */
export function proofOf({ incumbent }: Shown, job: Job): Proof {
  const { progress } = job;
  const { objective } = incumbent;
  const upper = progress.upper_bound ?? incumbent.upper_bound;
  return {
    objective, upper_bound: upper, lower_bound: progress.lower_bound ?? incumbent.lower_bound, beyond_space: objective < upper,
    proven_optimal: job.proven_optimal, proven_space: job.proven_space, space: progress.space, explored: progress.explored,
  };
}
