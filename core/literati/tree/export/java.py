"""Write a tree as a Java class without dependencies (Java 8)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from literati.data.labels import plain
from literati.tree.export.code import Syntax, conditions, large_subtrees, leaves
from literati.tree.export.conditions import ExportError
from literati.tree.export.provenance import comment_lines

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

SYNTAX = Syntax(indent="    ")
MAX_NODES = 400  # of a method; the bytecode of a method has at most 64 KiB
MAX_TEXT = 16_000  # signs of a string literal; the class file allows 64 KiB in UTF-8

METHODS = """
    private Literati() { }

    /** Returns the class of a row, a map from column names to cells. null, NaN and no cell are missing. */
    public static Object predict(Map<String, ?> row) { return CLASSES[LABELS[leaf(encode(row))]]; }

    /** Returns the probability of each class in CLASSES. */
    public static double[] predictProba(Map<String, ?> row) {
        return PROBABILITIES[leaf(encode(row))].clone();
    }

    /** Returns the id of the leaf, as Literati counts it. */
    public static int leafId(Map<String, ?> row) { return LEAF_IDS[leaf(encode(row))]; }

    /** Returns a number for each column: NaN if missing, the code of a category, -1 for an unknown one. */
    private static double[] encode(Map<String, ?> row) {
        double[] x = new double[COLUMNS.length];
        for (int i = 0; i < x.length; i++) {
            Object cell = row.get(COLUMNS[i]);
            boolean missing = cell == null || cell instanceof Double && ((Double) cell).isNaN()
                || cell instanceof Float && ((Float) cell).isNaN();
            x[i] = missing || KINDS[i].equals("constant") ? Double.NaN : read(i, cell);
        }
        return x;
    }

    private static double read(int column, Object cell) {
        if (KINDS[column].equals("category")) {
            Map<Object, Integer> codes = CATEGORIES.get(column);
            boolean texts = codes.keySet().stream().allMatch(key -> key instanceof String);
            if (texts && !(cell instanceof String)) throw refused(column, cell);
            return codes.getOrDefault(key(cell), -1);
        }
        Object number = key(cell);
        double x = Double.POSITIVE_INFINITY;
        if (number instanceof BigDecimal) x = ((BigDecimal) number).doubleValue();
        if (Double.isInfinite(x) || KINDS[column].equals("boolean") && x != 0 && x != 1) {
            throw refused(column, cell);
        }
        return x;
    }

    private static IllegalArgumentException refused(int column, Object cell) {
        String expected = KINDS[column] + (KINDS[column].equals("number") ? " that is finite" : "");
        return new IllegalArgumentException(COLUMNS[column] + ": expected a " + expected + ", got " + cell);
    }

    /** Returns equal objects for equal categories: numbers and booleans become exact decimals. */
    private static Object key(Object cell) {
        if (cell instanceof Boolean) return (Boolean) cell ? BigDecimal.ONE : BigDecimal.ZERO;
        if (cell instanceof BigInteger) return new BigDecimal((BigInteger) cell).stripTrailingZeros();
        if (cell instanceof BigDecimal) return ((BigDecimal) cell).stripTrailingZeros();
        if (cell instanceof Double || cell instanceof Float) {
            double x = ((Number) cell).doubleValue();
            if (Double.isInfinite(x)) return cell;
            return x == 0 ? BigDecimal.ZERO : new BigDecimal(x).stripTrailingZeros();
        }
        if (cell instanceof Number) {
            return BigDecimal.valueOf(((Number) cell).longValue()).stripTrailingZeros();
        }
        return cell;
    }

    private static double[][] numbers(String... rows) {
        String[] texts = String.join("", rows).split(";");
        double[][] found = new double[texts.length][];
        for (int i = 0; i < texts.length; i++) {
            found[i] = Arrays.stream(texts[i].split(",")).mapToDouble(Double::parseDouble).toArray();
        }
        return found;
    }

    private static int[] integers(String... rows) {
        return Arrays.stream(numbers(rows)[0]).mapToInt(x -> (int) x).toArray();
    }
"""


def to_java(tree: ShapeTree, model_id: str | None = None) -> str:
    """Return the class `Literati` with static methods for one row."""
    ends = leaves(tree)
    columns = tree.schema.columns
    probabilities = tree.probabilities.tolist()
    kinds = ["constant" if column.constant else column.kind for column in columns]
    imports = [
        "java.math.BigDecimal",
        "java.math.BigInteger",
        "java.util.Arrays",
        "java.util.HashMap",
        "java.util.Map",
    ]
    lines = ["/*", *(f" * {_ascii(line)}" for line in comment_lines(tree, model_id)), " */"]
    lines += [*(f"import {name};" for name in imports), "", "public final class Literati {"]
    lines.append(
        f"    public static final Object[] CLASSES = {{{', '.join(_literal(c) for c in tree.classes)}}};"
    )
    lines.append(
        f"    public static final String[] COLUMNS = {{{', '.join(_text(c.name) for c in columns)}}};"
    )
    lines.append(f"    private static final String[] KINDS = {{{', '.join(_text(kind) for kind in kinds)}}};")
    lines.append(f"    private static final int[] LEAF_IDS = integers({_chunks(','.join(map(str, ends)))});")
    labels = ",".join(str(tree.nodes[index].label) for index in ends)
    lines.append(f"    private static final int[] LABELS = integers({_chunks(labels)});")
    rows = ";".join(",".join(map(repr, probabilities[index])) for index in ends)
    lines.append(f"    private static final double[][] PROBABILITIES = numbers({_chunks(rows)});")
    lines += [
        "    private static final Map<Integer, Map<Object, Integer>> CATEGORIES = new HashMap<>();",
        "    static {",
    ]
    lines += [f"        categories{i}();" for i, column in enumerate(columns) if column.kind == "category"]
    lines.append("    }")
    for i, column in enumerate(columns):
        if column.kind == "category":
            lines += _categories(i, column.categories)
    lines += _methods(tree)
    return "\n".join(lines) + METHODS + "}\n"


def _categories(index: int, categories: tuple[Any, ...]) -> list[str]:
    lines = [
        "",
        f"    private static void categories{index}() {{",
        "        Map<Object, Integer> codes = new HashMap<>();",
    ]
    lines += [f"        codes.put(key({_literal(label)}), {code});" for code, label in enumerate(categories)]
    return [*lines, f"        CATEGORIES.put({index}, codes);", "    }"]


def _methods(tree: ShapeTree) -> list[str]:
    roots = large_subtrees(tree, MAX_NODES)
    calls = {index: f"leaf{index}(x)" for index in roots}
    lines = []
    for root in (0, *roots):
        name = f"leaf{root}" if root else "leaf"
        body = conditions(tree, SYNTAX, root, 2, calls)
        lines += ["", f"    private static int {name}(double[] x) {{", *map(_ascii, body), "    }"]
    return lines


def _literal(label: Any) -> str:
    label = plain(label)
    if isinstance(label, str):
        return _text(label)
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, int):
        return f"{label}L" if -(1 << 63) <= label < 1 << 63 else f'new BigInteger("{label}")'
    if isinstance(label, float):
        return repr(label)
    raise ExportError(f"Java has no literal for {label!r}; export to Python instead")


def _text(text: str) -> str:
    return json.dumps(text)


def _ascii(line: str) -> str:
    """Return a line whose comments cannot contain an escape that a Java compiler reads."""
    return line.encode("ascii", "replace").decode().replace("\\u", "\\ u")


def _chunks(text: str) -> str:
    return ", ".join(f'"{text[i : i + MAX_TEXT]}"' for i in range(0, len(text), MAX_TEXT))
