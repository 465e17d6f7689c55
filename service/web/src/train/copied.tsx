// What was copied from another job or sweep and has no field.
import type { Kept } from "./values.ts";

export function CopiedParts({ kept, onDrop }: { kept: Kept; onDrop: () => void }) {
  const parts = Object.entries({ ...kept.parameters, ...kept.rest, ...(kept.seed && { "seed of the rows held back": kept.seed }) });
  return (
    <p class="quiet row">
      <span>Also copied: {parts.map(([name, value], i) => <>{i > 0 && ", "}<code>{name}: {JSON.stringify(value)}</code></>)}.</span>
      <button type="button" class="small" onClick={onDrop}>Leave out</button>
    </p>
  );
}
