// The accuracy of a tree beside simpler classifiers.
import type { Metrics } from "../api/types.ts";
import { orDash, percent } from "../format.ts";

/** Compares the accuracy of a tree with CART and with the most frequent class. */
export function Accuracy({ metrics }: { metrics: Partial<Metrics> | null }) {
  if (metrics?.train_accuracy == null) return null;
  const held = metrics.validation_accuracy != null;
  const { cart, majority } = metrics.baselines ?? {};
  const cellOf = (value: number | null | undefined) => <td class="right">{orDash(value, percent)}</td>;
  return (
    <table class="list compact accuracy">
      <thead>
        <tr><th scope="col">Accuracy</th><th scope="col" class="right">Training rows</th>{held && <th scope="col" class="right">Held-back rows</th>}</tr>
      </thead>
      <tbody>
        <tr class="strong"><th scope="row">This tree</th>{cellOf(metrics.train_accuracy)}{held && cellOf(metrics.validation_accuracy)}</tr>
        {cart && <tr><th scope="row">CART of the same depth</th>{cellOf(cart.train?.accuracy)}{held && cellOf(cart.validation?.accuracy)}</tr>}
        {majority && <tr><th scope="row">Most frequent class</th>{cellOf(majority.train?.accuracy)}{held && cellOf(majority.validation?.accuracy)}</tr>}
      </tbody>
    </table>
  );
}
