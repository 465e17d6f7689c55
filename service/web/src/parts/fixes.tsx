// The remedies that the server proposes for an error or a warning, as buttons.
import { ApiError } from "../api/client.ts";
import type { ProblemFix } from "../api/types.ts";

export function fixesOf(error: unknown): ProblemFix[] {
  return error instanceof ApiError ? error.fixes : [];
}

export function Fixes({ fixes, busy, onFix }: { fixes: ProblemFix[]; busy?: boolean; onFix: (fix: ProblemFix) => void }) {
  if (!fixes.length) return null;
  return (
    <div class="row fixes" role="group" aria-label="Ways to correct it">
      {fixes.map((fix) => <button type="button" class="small" disabled={busy} onClick={() => onFix(fix)}>{fix.label.replaceAll("`", "")}</button>)}
    </div>
  );
}
