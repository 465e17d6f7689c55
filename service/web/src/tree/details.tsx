// The details of a node: a leaf's rule in words, or a split's question and figures.
import type { Tree } from "../api/types.ts";
import { count, label, number, percent } from "../format.ts";
import { IconButton } from "../parts/icons.tsx";
import { classStyle } from "./boxes.ts";
import { conditions, questionWords, ruleWords } from "./shape.ts";

export function NodeDetails(
  { tree, index, wrong, onClose }: { tree: Tree; index: number | null; wrong: number[]; onClose: () => void },
) {
  const node = index === null ? undefined : tree.nodes[index];
  // A proven subtree may have no bound of its own; a smaller bound would be confusing.
  const tells = node !== undefined && !(node.proven && node.bound < node.cost);
  return (
    <div class="node-details" aria-live="polite">
      {!node || index === null
        ? (
          <p class="quiet">
            Choose a leaf to see its rule, or a node to see its figures. Proven: no subtree of the search space is better on
            the node's rows. Open: this is not known, or was not needed to prove the whole tree.
          </p>
        )
        : (
          <>
            <div class="row">
              <h3>{node.split ? tree.columns[node.split.column].name : `Leaf: ${label(tree.classes.labels[node.label])}`}</h3>
              <span class="push"><IconButton name="close" label="Close" onClick={onClose} /></span>
            </div>
            {node.split
              ? <SplitWords tree={tree} index={index} />
              : <p class="rule">{ruleWords(tree, index)}</p>}
            <dl class="facts">
              <div class="fact"><dt>Rows</dt><dd>{count(node.rows)}</dd></div>
              <div class="fact"><dt>Wrong</dt><dd>{number(wrong[index])}</dd></div>
              {node.split && <div class="fact"><dt>Error as a leaf</dt><dd>{number(node.error)}</dd></div>}
              <div class="fact"><dt>Cost of the subtree</dt><dd>{number(node.cost)}</dd></div>
              {tells && <div class="fact"><dt>Lower bound</dt><dd>{number(node.bound)}</dd></div>}
              <div class="fact"><dt>Subtree</dt><dd>{node.proven ? "proven optimal" : "not proven yet"}</dd></div>
            </dl>
            <Counts tree={tree} index={index} />
          </>
        )}
    </div>
  );
}

function SplitWords({ tree, index }: { tree: Tree; index: number }) {
  const above = conditions(tree, index);
  const question = questionWords(tree, tree.nodes[index]);
  return (
    <p class="rule">
      {above.length > 0 && <>Where {above.join(", and ")}: </>}
      {above.length ? question : question.charAt(0).toUpperCase() + question.slice(1)}.
    </p>
  );
}

function Counts({ tree, index }: { tree: Tree; index: number }) {
  const { counts } = tree.nodes[index];
  const total = counts.reduce((sum, x) => sum + x, 0);
  const most = Math.max(...counts);
  const order = [...counts.keys()].filter((k) => counts[k] > 0).sort((a, b) => counts[b] - counts[a]).slice(0, 12);
  return (
    <ul class="class-bars" aria-label="Classes of the node's training rows">
      {order.map((k) => (
        <li>
          <span class="name">{label(tree.classes.labels[k])}</span>
          <span class="bar"><span class={`fill ${classStyle(k)}`} style={{ width: `${(100 * counts[k]) / most}%` }} /></span>
          <span class="figure">{number(counts[k])} <span class="quiet">{percent(counts[k] / total)}</span></span>
        </li>
      ))}
    </ul>
  );
}
