// A remark about a target whose values cannot be classes.
import { type Guesses, otherTargets } from "./guess.ts";
import { type UploadOptions, withRole, withType } from "./options.ts";

const MAX_CLASSES = 50; // fractions with more distinct values are hardly classes

interface Props { guesses: Guesses; options: UploadOptions; onChange: (options: UploadOptions) => void }

/** Says that fractions are no classes, and offers other targets. */
export function TargetRemark({ guesses, options, onChange }: Props) {
  const target = guesses.columns.find((column) => column.name === options.target);
  if (!target?.fractional || options.types[target.name]) return null;
  return (
    <div class="notice warn" role="status">
      <div>
        <p>{target.name} holds fractions. Literati predicts classes, not amounts. Choose another target, or group {target.name} into classes before the upload.</p>
        <div class="row fixes">
          {otherTargets(guesses.columns, target.name).slice(0, 3).map((name) => (
            <button type="button" class="small" onClick={() => onChange(withRole(options, name, "target"))}>Predict {name}</button>
          ))}
          {target.values.length <= MAX_CLASSES && (
            <button type="button" class="small" onClick={() => onChange(withType(options, target.name, "category"))}>Its numbers are classes</button>
          )}
        </div>
      </div>
    </div>
  );
}

