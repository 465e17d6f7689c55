// The rules of all leaves as a table, and the tree as program text.
import { useMemo, useState } from "preact/hooks";
import type { Tree } from "../api/types.ts";
import { count, label, number, percent } from "../format.ts";
import { CopyButton } from "../parts/copy.tsx";
import { type Column, DataTable } from "../parts/table.tsx";
import { pythonFunction, rulesText, sqlCase } from "./code.ts";
import { classStyle } from "./colours.ts";
import { ConditionLine } from "./condition-line.tsx";
import { conditionParts, conditionsOf, exactWords, type Part, ruleText } from "./rules.ts";
import { share, weighted } from "./shape.ts";

const FIRST_SHOWN = 25; // the rows of this table are high

/** `lines` computes the conditions when they are shown. */
interface Rule { index: number; answer: string; style: string; lines: () => Part[][]; rows: number; purity: number; wrong: number }

function rulesOf(tree: Tree): Rule[] {
  return tree.nodes.flatMap((node, index) => (node.split ? [] : [{
    index, answer: label(tree.classes.labels[node.label]), style: classStyle(node.label), rows: node.rows, purity: share(node), wrong: node.error,
    lines: onlyOnce(() => conditionsOf(tree, index).map((condition) => conditionParts(tree, condition))),
  }]));
}

function onlyOnce<Value>(compute: () => Value): () => Value {
  let found: Value | undefined;
  return () => (found ??= compute());
}

export function RulesTable({ tree, name, onNode }: { tree: Tree; name: string; onNode: (index: number) => void }) {
  const [filter, setFilter] = useState("");
  const rules = useMemo(() => rulesOf(tree), [tree]);
  const columns = useMemo((): Column<Rule>[] => [
    {
      id: "class", name: "Class", value: (rule) => rule.answer,
      cell: (rule) => (
        <button type="button" class="link rule-class" title="Show this leaf in the tree" onClick={() => onNode(rule.index)}>
          <span class={`swatch ${rule.style}`} />{rule.answer}
        </button>
      ),
    },
    {
      id: "if", name: "If all of these hold", value: (rule) => rule.lines().map(exactWords).join("; "),
      cell: (rule) => (rule.lines().length ? <ul class="rule">{rule.lines().map((parts) => <li><ConditionLine parts={parts} /></li>)}</ul> : "always"),
    },
    { id: "rows", name: "Rows", value: (rule) => rule.rows, cell: (rule) => count(rule.rows), right: true, descending: true },
    { id: "purity", name: "Purity", value: (rule) => rule.purity, cell: (rule) => percent(rule.purity), right: true, descending: true },
    { id: "wrong", name: weighted(tree) ? "Wrong weight" : "Wrong", value: (rule) => rule.wrong, cell: (rule) => number(rule.wrong), right: true, descending: true },
    { id: "copy", name: "Copy", cell: (rule) => <CopyButton small label={`Copy the rule of leaf ${rule.index}`} text={() => ruleText(tree, rule.index)} /> },
  ], [tree, onNode]);
  return (
    <div class="rules">
      <div class="row">
        <input
          type="search" class="rule-filter" placeholder="Filter the rules" aria-label="Filter the rules" value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <span class="row push">
          <CopyButton text={() => rulesText(tree)} label="Copy as text" />
          <CopyButton text={() => sqlCase(tree)} label="Copy as SQL" />
          <CopyButton text={() => pythonFunction(tree)} label="Copy as Python" />
        </span>
      </div>
      <p class="quiet">
        {weighted(tree)
          ? "Rows are training rows. Purity (the share of the class) and wrong weight count their weight."
          : "Rows, purity (the share of the class) and wrong are about the training rows."} SQL is a CASE expression over columns of these
        names; Python is a function of a row. Both treat missing values and categories as the tree does, with exact cuts.
      </p>
      <DataTable
        label="Rules of the tree" columns={columns} rows={rules} id={(rule) => String(rule.index)} filter={filter} first={FIRST_SHOWN}
        order={{ by: "rows", descending: true }} saveAs={`${name} rules`}
      />
    </div>
  );
}
