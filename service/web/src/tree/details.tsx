// The details of a node: a leaf's rule in words, or a split's question and figures.
import type { Tree } from "../api/types.ts";
import { capitalized, count, label, number } from "../format.ts";
import { Fact } from "../parts/badge.tsx";
import { IconButton } from "../parts/icons.tsx";
import { ClassBars } from "./legend.tsx";
import { conditions, questionWords, ruleWords } from "./shape.ts";

export function NodeDetails(
  { tree, index, wrong, onClose }: { tree: Tree; index: number | null; wrong: number[]; onClose: () => void },
) {
  const node = index === null ? undefined : tree.nodes[index];
  // A proven subtree may have no bound of its own; a smaller bound would be confusing.
  const showsBound = node !== undefined && !(node.proven && node.bound < node.cost);
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
              <Fact name="Rows">{count(node.rows)}</Fact>
              <Fact name="Wrong">{number(wrong[index])}</Fact>
              {node.split && <Fact name="Error as a leaf">{number(node.error)}</Fact>}
              <Fact name="Cost of the subtree">{number(node.cost)}</Fact>
              {showsBound && <Fact name="Lower bound">{number(node.bound)}</Fact>}
              <Fact name="Subtree">{node.proven ? "proven optimal" : "not proven yet"}</Fact>
            </dl>
            <ClassBars bars={classesOf(tree, index)} most={12} label="Classes of the node's training rows" />
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
      {above.length ? question : capitalized(question)}.
    </p>
  );
}

function classesOf(tree: Tree, node: number) {
  const bars = tree.nodes[node].counts.map((weight, index) => ({ index, name: label(tree.classes.labels[index]), weight }));
  return bars.filter((bar) => bar.weight > 0).sort((a, b) => b.weight - a.weight);
}
