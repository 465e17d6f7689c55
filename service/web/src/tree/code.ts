// The tree as program text: SQL, Python, and rules in words.
import type { Tree, TreeLabel, TreeNode } from "../api/types.ts";
import { label } from "../format.ts";
import { ruleText } from "./rules.ts";
import { pieces } from "./shape.ts";

interface Language {
  name: (column: string) => string; // how a value of the row is read
  label: (entry: TreeLabel) => string;
  truth: (value: boolean) => string;
  below: (value: string, high: string) => string;
  above: (value: string, low: string) => string;
  between: (value: string, low: string, high: string) => string;
  among: (value: string, entries: string[], inside: boolean) => string;
  missing: (value: string) => string;
  known: (value: string) => string;
  or: string;
  never: string;
}

function numberText(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? `${value}.0` : String(value);
}

const SQL: Language = {
  name: (column) => `"${column.replaceAll('"', '""')}"`,
  label: (entry) => {
    if (entry.type === "bool") return SQL.truth(entry.value);
    if (entry.type === "int" || entry.type === "float") return entry.type === "int" ? String(entry.value) : numberText(entry.value);
    return `'${(entry.type === "str" ? entry.value : label(entry)).replaceAll("'", "''")}'`;
  },
  truth: (value) => (value ? "TRUE" : "FALSE"),
  below: (value, high) => `${value} <= ${high}`,
  above: (value, low) => `${value} > ${low}`,
  between: (value, low, high) => `(${value} > ${low} AND ${value} <= ${high})`,
  among: (value, entries, inside) => `${value} ${inside ? "IN" : "NOT IN"} (${entries.join(", ")})`,
  missing: (value) => `${value} IS NULL`,
  known: (value) => `${value} IS NOT NULL`,
  or: " OR ",
  never: "1 = 0",
};

const PYTHON: Language = {
  name: (column) => `row.get(${JSON.stringify(column)})`,
  label: (entry) => {
    if (entry.type === "bool") return PYTHON.truth(entry.value);
    if (entry.type === "int" || entry.type === "float") return entry.type === "int" ? String(entry.value) : numberText(entry.value);
    if (entry.type === "tuple") return `(${entry.value.map((each) => `${PYTHON.label(each)},`).join(" ")})`;
    return JSON.stringify(entry.value);
  },
  truth: (value) => (value ? "True" : "False"),
  below: (value, high) => `${value} <= ${high}`,
  above: (value, low) => `${value} > ${low}`,
  between: (value, low, high) => `${low} < ${value} <= ${high}`,
  among: (value, entries, inside) => `${value} ${inside ? "in" : "not in"} (${entries.map((entry) => `${entry},`).join(" ")})`,
  missing: (value) => `missing(${value})`,
  known: (value) => `not missing(${value})`,
  or: " or ",
  never: "False",
};

/** Returns the ways in which a known value goes left, and whether every known value does. */
function knownLeft(tree: Tree, node: TreeNode, value: string, language: Language): string[] | "all" {
  const split = node.split!;
  const column = tree.columns[split.column];
  if (column.kind === "category") {
    const right = new Set(split.right_categories);
    const listed = column.categories.filter((_, k) => right.has(k) !== split.unknown_right).map(language.label);
    // A category that training did not see is in no list.
    if (!listed.length) return split.unknown_right ? [] : "all";
    return [language.among(value, listed, split.unknown_right)];
  }
  const left = pieces(split).filter((piece) => !piece.right);
  if (column.kind === "boolean") {
    const sides = [false, true].filter((each) => left.some((piece) => piece.low < Number(each) && Number(each) <= piece.high));
    return sides.length === 2 ? "all" : sides.map((each) => `${value} ${language === SQL ? "=" : "=="} ${language.truth(each)}`);
  }
  if (!split.thresholds.length) return "all";
  return left.map(({ low, high }) => {
    if (low === -Infinity) return language.below(value, numberText(high));
    return high === Infinity ? language.above(value, numberText(low)) : language.between(value, numberText(low), numberText(high));
  });
}

/** Returns the condition under which a row of this node goes left. A comparison with NULL is not true in SQL. */
function goesLeft(tree: Tree, node: TreeNode, value: string, language: Language): string {
  const ways = knownLeft(tree, node, value, language);
  const missingLeft = !node.split!.missing_right;
  if (ways === "all") return missingLeft ? `${language.known(value)}${language.or}${language.missing(value)}` : language.known(value);
  if (missingLeft) return [language.missing(value), ...ways].join(language.or);
  if (!ways.length) return language.never;
  return language === SQL ? ways.join(language.or) : `${language.known(value)} and (${ways.join(language.or)})`;
}

/** Returns one CASE expression; the columns have their names, and NULL is a missing value. */
export function sqlCase(tree: Tree): string {
  const write = (index: number, indent: string): string => {
    const node = tree.nodes[index];
    if (!node.split) return SQL.label(tree.classes.labels[node.label]);
    const value = SQL.name(tree.columns[node.split.column].name);
    const deeper = `${indent}  `;
    return `CASE\n${deeper}WHEN ${goesLeft(tree, node, value, SQL)} THEN ${write(node.split.left, deeper)}\n`
      + `${deeper}ELSE ${write(node.split.right, deeper)}\n${indent}END`;
  };
  return `${write(0, "")}\n`;
}

/** Returns a function of a row, which is a dict; None and NaN are missing values. */
export function pythonFunction(tree: Tree): string {
  const lines = [
    "def missing(value):",
    "    return value is None or value != value",
    "",
    "",
    "def predict(row):",
    '    """Return the class of a row: a dict of values by column name. None and NaN are missing values."""',
  ];
  const write = (index: number, indent: string): void => {
    const node = tree.nodes[index];
    if (!node.split) {
      lines.push(`${indent}return ${PYTHON.label(tree.classes.labels[node.label])}`);
      return;
    }
    lines.push(`${indent}value = ${PYTHON.name(tree.columns[node.split.column].name)}`);
    lines.push(`${indent}if ${goesLeft(tree, node, "value", PYTHON)}:`);
    write(node.split.left, `${indent}    `);
    write(node.split.right, indent); // every branch above returns
  };
  write(0, "    ");
  return `${lines.join("\n")}\n`;
}

/** Returns the rules of all leaves in words. */
export function rulesText(tree: Tree): string {
  return `${tree.nodes.flatMap((node, i) => (node.split ? [] : [ruleText(tree, i)])).join("\n\n")}\n`;
}
