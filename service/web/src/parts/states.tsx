// States of a view without data: loading, error, no connection, empty.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, isAt, LostError } from "../api/client.ts";
import type { DeletedRecord } from "../api/types.ts";
import { moment } from "../format.ts";
import { useAction } from "../state/action.ts";
import { retry as retryConnection } from "../state/connection.ts";
import { restoreBy } from "../state/removal.ts";
import type { Resource } from "../state/resource.ts";
import { Icon } from "./icons.tsx";

/** Appears only after a short delay. */
export function Loading({ what = "Loading" }: { what?: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return late ? <p class="loading" role="status"><span class="spinner" aria-hidden="true" />{what}…</p> : <p class="loading" />;
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error instanceof ApiError && error.deleted) return <Deleted record={error.deleted} onRestored={retry} />;
  const lost = error instanceof LostError;
  const gone = error instanceof ApiError && error.status === 404;
  const title = lost ? "No connection" : gone ? "Not found" : "Error";
  const text = lost ? "The server does not respond. This view reloads automatically when it does." : messageOf(error);
  return (
    <div class="notice bad" role="alert">
      <Icon name="warning" />
      <div>
        <strong>{title}</strong>
        <p>{text}</p>
        {retry && !gone && <button type="button" onClick={lost ? retryConnection : retry}>Try again</button>}
      </div>
    </div>
  );
}

/** A record that was deleted, which can be restored here. */
function Deleted({ record, onRestored }: { record: DeletedRecord; onRestored?: () => void }) {
  const { run, busy, error } = useAction();
  const restore = () => run(async () => {
    await restoreBy(record.restore);
    onRestored?.();
  });
  return (
    <div class="notice warn" role="alert">
      <Icon name="warning" />
      <div>
        <strong>Deleted</strong>
        <p>{deletedWords(record)}</p>
        <button type="button" disabled={busy} onClick={() => void restore()}>Restore</button>
        <Refusal error={error} />
      </div>
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Shows the loaded value or its state. A loaded value stays visible when the connection is lost. */
export function Await<Value>(
  { from, what, children }: { from: Resource<Value>; what?: string; children: (value: Value) => ComponentChildren },
) {
  if (from.value === undefined) {
    return from.error === undefined ? <Loading what={what} /> : <Failure error={from.error} retry={from.reload} />;
  }
  const refused = from.error !== undefined && !(from.error instanceof LostError);
  return <>{refused && <Failure error={from.error} retry={from.reload} />}{children(from.value)}</>;
}

/** Shows the error of an action. Errors at `placed` are shown at their fields and not here. */
export function Refusal({ error, placed = [] }: { error: unknown; placed?: string[] }) {
  if (error === undefined || error === null) return null;
  return (
    <div class="refusal" role="alert">
      <Icon name="warning" />
      <div>{reasons(error, placed).map((text) => <p>{text}</p>)}</div>
    </div>
  );
}

function deletedWords({ at, until }: DeletedRecord): string {
  return `This was deleted at ${moment(at)}. It can be restored${until ? ` until ${moment(until)}` : ""}.`;
}

function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.deleted) return deletedWords(error.deleted);
  return error instanceof Error ? error.message : String(error);
}

function reasons(error: unknown, placed: string[]): string[] {
  if (error instanceof LostError) return ["The server does not respond; try again later."];
  if (!(error instanceof ApiError) || !error.errors.length) return [messageOf(error)];
  const unplaced = error.errors.filter((entry) => !placed.some((place) => isAt(entry.pointer, place))).map((entry) => entry.message);
  return unplaced.length ? [...new Set(unplaced)] : ["Correct the marked fields."];
}
