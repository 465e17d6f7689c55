// Reasons to doubt that a tree is good on new rows, from the server's warnings and from the scores.
import type { Metrics, TreeWarning } from "../api/types.ts";
import { count, counted, percent } from "../format.ts";

/** What can be done about it. */
export type Way = "penalty" | "smoothing" | "tune" | { leaveOut: string };

interface Doubt { text: string; ways: Way[] }

const MAX_DIFFERENCE = 0.1; // between the accuracy on training rows and on held-back rows
const MIN_OVERFIT = 0.03; // a larger penalty helps only a tree that is better on the training rows
const OTHERS = { MAJORITY: "the most frequent class alone", CART: "a CART tree of the same depth" };
const WORSE = "A paired test says that the tree is worse.";
const NOT_BETTER = "A paired test does not show that the tree is better.";
const ABOUT_PROOF = " A proof of optimality is about the training rows and does not change this.";

type Other = keyof typeof OTHERS;

function compared(metrics: Metrics, name: Other, result: string): Doubt {
  const held = metrics.validation!;
  const other = baseline(metrics, name)!;
  return {
    text: `On the ${counted(held.rows, "held-back row")}, the tree is right on ${percent(held.accuracy)} and ${OTHERS[name]} on ${percent(other.accuracy)}. ${result}${name === "MAJORITY" ? ABOUT_PROOF : ""}`,
    ways: metrics.train.accuracy - held.accuracy > MIN_OVERFIT ? ["penalty", "tune"] : ["tune"],
  };
}

function baseline({ baselines }: Metrics, name: Other) {
  return (name === "CART" ? baselines?.cart : baselines?.majority)?.validation;
}

function overfit({ train, validation: held }: Metrics): Doubt {
  const chance = train.accuracy <= (held!.accuracy_interval?.high ?? 0) ? " With so few held-back rows this may be chance." : "";
  return {
    text: `The tree is right on ${percent(train.accuracy)} of the training rows but on ${percent(held!.accuracy)} of the ${counted(held!.rows, "held-back row")}: ` +
      `it has learned peculiarities of the training rows.${chance}`,
    ways: ["penalty", "tune"],
  };
}

function idLike(column: string, evidence: Record<string, unknown>): Doubt {
  return {
    text: `The tree decides by ${column}, which has ${count(Number(evidence.distinct_values))} different values in ${counted(Number(evidence.rows), "row")}, ` +
      "as an identifier has. Such a decision says nothing about new rows.",
    ways: [{ leaveOut: column }],
  };
}

const WARNED: Record<TreeWarning["code"], (metrics: Metrics, evidence: Record<string, unknown>) => Doubt> = {
  OVERFIT: overfit,
  WORSE_THAN_MAJORITY: (metrics) => compared(metrics, "MAJORITY", WORSE),
  NOT_BETTER_THAN_MAJORITY: (metrics) => compared(metrics, "MAJORITY", NOT_BETTER),
  WORSE_THAN_CART: (metrics) => compared(metrics, "CART", WORSE),
  NOT_BETTER_THAN_CART: (metrics) => compared(metrics, "CART", NOT_BETTER),
  ID_LIKE_COLUMN: (_, evidence) => idLike(String(evidence.column), evidence),
};

/** The baseline may have been fitted after the warnings were made, and old records have no warnings. */
function unwarned(metrics: Metrics, name: Other): Doubt[] {
  const held = metrics.validation;
  const other = baseline(metrics, name);
  const warned = metrics.warnings?.some(({ code }) => code.endsWith(`THAN_${name}`));
  if (!held || !other || warned) return [];
  return held.accuracy <= other.accuracy ? [compared(metrics, name, "The tree is not shown to be better.")] : [];
}

export function doubts(metrics: Metrics): Doubt[] {
  const { train, validation: held, baselines, warnings = [] } = metrics;
  const found = warnings.map(({ code, text, evidence }) => WARNED[code]?.(metrics, evidence) ?? { text, ways: [] });
  if (!train || !held) return found;
  found.push(...unwarned(metrics, "MAJORITY"), ...unwarned(metrics, "CART"));
  const apart = train.accuracy - held.accuracy >= MAX_DIFFERENCE - 1e-9;
  if (apart && !warnings.some(({ code }) => code === "OVERFIT")) found.push(overfit(metrics));
  const cart = baselines?.cart?.validation;
  const [mine, other] = [held.log_loss.toFixed(3), cart?.log_loss.toFixed(3)];
  if (cart && Number(mine) > Number(other)) {
    found.push({
      text: `The log loss on the held-back rows is ${mine}, and that of CART ${other}: the probabilities of this tree are less reliable.`,
      ways: ["smoothing", "tune"],
    });
  }
  return found;
}
