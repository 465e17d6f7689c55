"""Write a tree as a Java class without dependencies (Java 8)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from literati.data.labels import plain
from literati.tree.export.code import (
    Syntax,
    category_tables,
    cell_kind,
    conditions,
    large_subtrees,
    leaves,
    used_columns,
)
from literati.tree.export.conditions import ExportError
from literati.tree.export.provenance import comment_lines

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

SYNTAX = Syntax(entry="RIGHT{node}.charAt((int) {cell} + 1) == '1'")
# The bytecode of a method and a string literal in UTF-8 have at most 64 KiB, and a class 65,535 constants.
# So long lists are written as a few long literals, which the class splits when it is loaded.
MAX_NODES = 200
MAX_TEXT = 10_000
SEPARATOR = "\x1f"

METHODS = """
    private Literati() { }

    /** Returns the class of a row, a map from the names in COLUMNS to cells. null and NaN are missing. */
    public static Object predict(Map<String, ?> row) { return CLASSES[LABELS[leaf(encode(row))]]; }

    /** Returns the probability of each class in CLASSES. */
    public static double[] predictProba(Map<String, ?> row) {
        int start = leaf(encode(row)) * CLASSES.length;
        return Arrays.copyOfRange(PROBABILITIES, start, start + CLASSES.length);
    }

    /** Returns the id of the leaf, as Literati counts it. */
    public static int leafId(Map<String, ?> row) { return LEAF_IDS[leaf(encode(row))]; }

    /** Returns a number for each column: NaN if missing, the code of a category, -1 for an unknown one. */
    private static double[] encode(Map<String, ?> row) {
        double[] x = new double[COLUMNS.length];
        for (int i = 0; i < x.length; i++) {
            Object cell = row.get(COLUMNS[i]);
            if (cell == null && !row.containsKey(COLUMNS[i])) {
                String message = ": the row has no such column; null is a missing cell";
                throw new IllegalArgumentException(COLUMNS[i] + message);
            }
            boolean missing = cell == null || cell instanceof Double && ((Double) cell).isNaN()
                || cell instanceof Float && ((Float) cell).isNaN();
            x[i] = missing ? Double.NaN : read(i, cell);
        }
        return x;
    }

    private static double read(int column, Object cell) {
        if (CATEGORIES.containsKey(column)) {
            if (KINDS[column].equals("text") && !(cell instanceof String)) throw refused(column, cell);
            return CATEGORIES.get(column).getOrDefault(key(cell), -1);
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

    private static String[] split(String... parts) {
        return parts.length == 0 ? parts : String.join("", parts).split("\\u001f", -1);
    }

    private static double[] numbers(String... parts) {
        return Arrays.stream(split(parts)).mapToDouble(Double::parseDouble).toArray();
    }

    private static int[] integers(String... parts) {
        return Arrays.stream(split(parts)).mapToInt(Integer::parseInt).toArray();
    }

    /** Returns the codes of the categories; the first letter of each says what it is. */
    private static Map<Object, Integer> codes(String... parts) {
        Map<Object, Integer> codes = new HashMap<>();
        for (String entry : split(parts)) {
            String text = entry.substring(1);
            Object category = text;
            if (entry.charAt(0) == 'i') category = new BigInteger(text);
            if (entry.charAt(0) == 'd') category = Double.valueOf(text);
            codes.put(key(category), codes.size());
        }
        return codes;
    }
"""


def to_java(tree: ShapeTree, model_id: str | None = None) -> str:
    """Return the class `Literati` with static methods for one row."""
    ends = leaves(tree)
    columns = used_columns(tree).values()
    imports = [
        "java.math.BigDecimal",
        "java.math.BigInteger",
        "java.util.Arrays",
        "java.util.HashMap",
        "java.util.Map",
    ]
    lines = ["/*", *(f" * {_ascii(line)}" for line in comment_lines(tree, model_id)), " */"]
    lines += [*(f"import {name};" for name in imports), "", "public final class Literati {"]
    shares = [share for row in tree.probabilities[ends].tolist() for share in row]
    lines += [
        _field("public", "Object[] CLASSES", f"{{{', '.join(map(_literal, tree.classes))}}}"),
        _field("public", "String[] COLUMNS", _call("split", [column.name for column in columns])),
        _field("private", "String[] KINDS", _call("split", map(cell_kind, columns))),
        _field("private", "int[] LEAF_IDS", _call("integers", ends)),
        _field("private", "int[] LABELS", _call("integers", [tree.nodes[index].label for index in ends])),
        _field("private", "double[] PROBABILITIES", _call("numbers", shares)),
        _field("private", "Map<Integer, Map<Object, Integer>> CATEGORIES", "new HashMap<>()"),
    ]
    for node, table in category_tables(tree).items():
        lines.append(_field("private", f"String RIGHT{node}", f'String.join("", {_chunks(table)})'))
    lines.append("    static {")
    for place, column in enumerate(columns):
        if column.kind == "category":
            codes = _call("codes", [_entry(category) for category in column.categories])
            lines.append(f"        CATEGORIES.put({place}, {codes});")
    lines += ["    }", *_methods(tree)]
    return "\n".join(lines) + METHODS + "}\n"


def _field(access: str, declaration: str, value: str) -> str:
    return f"    {access} static final {declaration} = {value};"


def _call(method: str, entries: Iterable[object]) -> str:
    """Return the call of a method with a list as a few long literals, or as none if it is empty."""
    texts = [str(entry) for entry in entries]
    if found := next((text for text in texts if SEPARATOR in text), None):
        raise ExportError(
            f"The Java export separates texts by the control character {SEPARATOR!r}, which {found!r} "
            "contains; export to Python instead"
        )
    return f"{method}({_chunks(SEPARATOR.join(texts)) if texts else ''})"


def _entry(category: Any) -> str:
    """Return a category with a letter for its type."""
    category = plain(category)
    if isinstance(category, str):
        return f"s{category}"
    return f"d{category!r}" if isinstance(category, float) else f"i{int(category)}"


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
        return json.dumps(label)
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, int):
        return f"{label}L" if -(1 << 63) <= label < 1 << 63 else f'new BigInteger("{label}")'
    if isinstance(label, float):
        return repr(label)
    raise ExportError(f"Java has no literal for {label!r}; export to Python instead")


def _ascii(line: str) -> str:
    """Return a line with its comment in ASCII, which is the same in every encoding of source files."""
    return line.encode("ascii", "replace").decode()


def _chunks(text: str) -> str:
    parts = [text[i : i + MAX_TEXT] for i in range(0, len(text), MAX_TEXT)] or [""]
    return ", ".join(map(json.dumps, parts))
