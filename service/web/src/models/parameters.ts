// The parameters of models in a fixed order, with what they mean and their defaults.
import type { Parameters } from "../api/types.ts";
import { valueText } from "../parameters.ts";
import definitions from "../train/parameters.json";

interface Definition { description: string; default: unknown }

const DEFINITIONS = definitions.parameters as Record<string, Definition>;

interface Parameter { name: string; description: string; value: string; json: string; standard: boolean }

/** Returns the parameters, those that differ from their defaults first. */
export function parametersOf(parameters: Parameters): Parameter[] {
  const entries = Object.entries(parameters).map(([name, value]) => {
    const definition: Definition | undefined = DEFINITIONS[name];
    const standard = JSON.stringify(value ?? null) === JSON.stringify(definition?.default ?? null);
    return { name, description: definition?.description ?? "", value: valueText(value), json: JSON.stringify(value ?? null), standard };
  });
  const order = Object.keys(DEFINITIONS);
  const rank = ({ name, standard }: Parameter) => (standard ? 1000 : 0) + (order.indexOf(name) + 1 || 500);
  return entries.sort((a, b) => rank(a) - rank(b));
}
