// A condition of a rule as text.
import { exactWords, type Part } from "./rules.ts";

/** What is rounded or shortened has its exact text in a title. */
export function ConditionLine({ parts }: { parts: Part[] }) {
  return (
    <span title={exactWords(parts)}>
      {parts.map((part) => (part.exact === undefined || part.exact === part.text ? part.text : <span class="rounded" title={part.exact}>{part.text}</span>))}
    </span>
  );
}
