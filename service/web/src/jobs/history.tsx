// Tables of what happened during the search.
import { count, moment, number, orDash, roughPercent } from "../format.ts";
import { lowerBoundWords } from "../quality/sentences.ts";
import { title } from "../words.ts";
import type { JobFeed } from "./feed.ts";
import { foundWords } from "./moments.ts";

const MAX_TREES = 200; // that are shown
const MAX_LINES = 50;

/** Shows the improvements of the chart as a table, for screen readers and exact figures. */
export function Improvements({ feed, onPick }: { feed: JobFeed; onPick: (revision: number) => void }) {
  if (!feed.improvements.length) return null;
  const shown = [...feed.improvements].reverse().slice(0, MAX_TREES);
  const shares = shown.some((entry) => entry.explored !== null);
  return (
    <details class="panel">
      <summary>When the tree improved</summary>
      <div class="scroll short" role="region" aria-label={`When the tree of ${title(feed.job!)} improved`} tabIndex={0}>
        <table class="list compact">
          <thead><tr><th scope="col">Tree</th><th scope="col" class="right">After</th><th scope="col" class="right">Cost</th><th scope="col" class="right">Lower bound</th>{shares && <th scope="col" class="right">Explored</th>}</tr></thead>
          <tbody>
            {shown.map((entry) => (
              <tr key={entry.revision}>
                <th scope="row"><button type="button" class="link" onClick={() => onPick(entry.revision)}>Tree {entry.revision}</button></th>
                <td class="right">{orDash(entry.seconds, foundWords)}</td>
                <td class="right">{number(entry.objective)}</td>
                <td class="right">{orDash(entry.lower, (lower) => lowerBoundWords({ lower_bound: lower, upper_bound: entry.objective }))}</td>
                {shares && <td class="right">{orDash(entry.explored, roughPercent)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {feed.improvements.length > MAX_TREES && <p class="quiet">The last {MAX_TREES} of {count(feed.improvements.length)} trees are shown.</p>}
    </details>
  );
}

export function Log({ feed }: { feed: JobFeed }) {
  if (!feed.logs.length) return null;
  return (
    <details class="panel">
      <summary>Search log</summary>
      <ul class="notes">{feed.logs.slice(-MAX_LINES).map((entry) => <li><span class="quiet">{moment(entry.at)}</span> {entry.message}</li>)}</ul>
      {feed.logs.length > MAX_LINES && <p class="quiet">The last {MAX_LINES} of {count(feed.logs.length)} lines are shown.</p>}
    </details>
  );
}
