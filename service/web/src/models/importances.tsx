// How much of the training error the splits on each feature save, as bars.
import type { ModelWithTree } from "../api/types.ts";
import { counted, number, percent } from "../format.ts";

interface Importance { feature: string; errors_saved: number; importance: number }
interface WithSummary { summary?: { feature_importances?: Importance[] } } // absent in the models of version 0.1.0

const SHOWN = 12;

export function Importances({ model }: { model: ModelWithTree }) {
  const found = (model.tree as unknown as WithSummary).summary?.feature_importances ?? [];
  if (!found.length) return null;
  const longest = Math.max(...found.map((entry) => entry.importance)) || 1;
  return (
    <section class="panel" aria-label="Feature importances">
      <h2>Feature importances</h2>
      <table class="importances">
        <caption class="help">The share of the saved training errors that the splits on each feature save.</caption>
        <tbody>
          {found.slice(0, SHOWN).map((entry) => (
            <tr key={entry.feature} title={`The splits save ${number(entry.errors_saved)} errors`}>
              <th scope="row">{entry.feature}</th>
              <td class="span"><span class="fill" style={{ width: `${(100 * entry.importance) / longest}%` }} /></td>
              <td class="right">{percent(entry.importance)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.length > SHOWN && <p class="quiet">{counted(found.length - SHOWN, "more feature")} {found.length - SHOWN === 1 ? "saves" : "save"} less.</p>}
    </section>
  );
}
