// Aliases: names that can be moved from one model to another. By default an alias belongs to a dataset.
import { useEffect, useRef } from "preact/hooks";
import { get, send } from "../api/client.ts";
import type { Alias, AliasList } from "../api/types.ts";
import type { DatasetNames } from "../runs/datasets.ts";
import { type Resource, useResource } from "../state/resource.ts";
import { Signal, useSignal } from "../state/signal.ts";
import { offerUndo } from "../state/undo.ts";

const PRODUCTION = "production";
const MAX_LENGTH = 64;

/** Grows when an alias was set, moved or removed, so that the views load them again. */
const aliasChanges = new Signal(0);

async function readAliases(signal?: AbortSignal): Promise<Alias[]> {
  return (await get<AliasList>("/v1/models/aliases", signal)).items;
}

/** The aliases of all models. When one was changed, they are loaded again and the old ones stay until then. */
export function useAliases(): Resource<Alias[]> {
  const aliases = useResource("aliases", readAliases);
  const change = useSignal(aliasChanges);
  const seen = useRef(change);
  useEffect(() => {
    if (seen.current !== change) aliases.reload();
    seen.current = change;
  }, [change]);
  return aliases;
}

/** Returns the usual alias of a dataset's model in production: `loans.production`. Without a dataset it is `production`. */
function productionAlias(dataset: string | undefined): string {
  const plain = (dataset ?? "").normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-").replace(/^[^a-z0-9]+|[_-]+$/g, "").replace(/^mdl_/, "mdl-");
  const slug = plain.slice(0, MAX_LENGTH - PRODUCTION.length - 1).replace(/[_-]+$/, "");
  return slug ? `${slug}.${PRODUCTION}` : PRODUCTION;
}

/** Like `productionAlias`; undefined until the name of the dataset is known. */
export function usualAlias(names: DatasetNames, datasetId: string): string | undefined {
  return names.loaded ? productionAlias(names.get(datasetId)) : undefined;
}

export function isProduction(alias: string): boolean {
  return alias === PRODUCTION || alias.endsWith(`.${PRODUCTION}`);
}

/**
 * Makes the alias name the model, and offers to undo it. `before` is the model that the user saw with this alias, if any:
 * an alias that was moved in the meantime stays as it is.
 */
export async function setAlias(alias: string, modelId: string, before: string | undefined): Promise<void> {
  await change(alias, before, modelId);
  const words = before ? "was moved" : "was set";
  offerUndo(`The alias ${alias} ${words}.`, () => change(alias, modelId, before));
}

export async function removeAlias(alias: string, modelId: string): Promise<void> {
  await change(alias, modelId, undefined);
  offerUndo(`The alias ${alias} was removed.`, () => change(alias, undefined, modelId));
}

async function change(alias: string, from: string | undefined, to: string | undefined): Promise<void> {
  const now = (await readAliases()).find((each) => each.name === alias)?.model_id;
  if (now !== from) {
    aliasChanges.set(aliasChanges.value + 1);
    throw new Error(`The alias ${alias} was changed in the meantime, so it stays as it is.`);
  }
  const path = `/v1/models/aliases/${encodeURIComponent(alias)}`;
  await (to === undefined ? send("DELETE", path) : send("PUT", path, { model_id: to }));
  aliasChanges.set(aliasChanges.value + 1);
}
