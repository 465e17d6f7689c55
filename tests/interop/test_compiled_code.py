"""Exports to C, Java and JavaScript, compiled and run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from literati.data.schema import Column
from literati.tree.export.c_code import _text as c_text
from literati.tree.export.java import _literal as java_literal
from literati.tree.export.javascript import literal as javascript_literal
from tests.interop.expected import PROBLEMS, Expected, Key, expected, infinite

WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-overflow")


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(problem: Expected, lines: list[str]) -> None:
    """Compare lines of a leaf, a class and hexadecimal probabilities with the library."""
    tree = problem.tree
    for line, leaf, shares in zip(lines, problem.leaves, problem.probabilities, strict=True):
        found, label, *numbers = line.split()
        assert int(found) == leaf
        assert int(label) == tree.nodes[leaf].label
        assert [float.fromhex(number) for number in numbers] == shares


def c_cell(place: int, column: Column, cell: Any) -> str:
    if cell is None:
        return "NAN"
    if column.kind != "category":
        return repr(float(cell)).replace("inf", "INFINITY")
    if isinstance(cell, str):
        return f"literati_category_text({place}, {c_text(cell)})"
    if isinstance(cell, int):
        return f"literati_category_integer({place}, {int(cell)}LL)"
    return f"literati_category_number({place}, {cell!r})"


C_MAIN = """
#include <stdio.h>
static void show(const double *x) {{
    const double *p = literati_predict_proba(x);
    printf("%d %d", literati_leaf_id(x), literati_predict(x));
    for (int k = 0; k < {classes}; ++k) printf(" %a", p[k]);
    puts("");
}}
int main(void) {{
{rows}
    return 0;
}}
"""


def check_c(problem: Expected, folder: Path) -> None:
    tree = problem.tree
    cells = [
        ", ".join(c_cell(place, column, row[column.name]) for place, column in enumerate(problem.used))
        for row in problem.rows
    ]
    rows = "\n".join(f"    {{ const double x[] = {{{row}}}; show(x); }}" for row in cells)
    if not problem.used:  # an array without elements is not C99
        rows = "    show(NULL);\n" * len(cells)
    source = tree.to_c() + C_MAIN.format(classes=len(tree.classes), rows=rows)
    (folder / "tree.c").write_text(source)
    run("gcc", *WARNINGS, "-o", "tree", "tree.c", "-lm", folder=folder)
    check(problem, run(folder / "tree", folder=folder).splitlines())


@pytest.mark.parametrize("key", PROBLEMS)
def test_c(key: Key, tmp_path: Path) -> None:
    check_c(expected(key, exact=False), tmp_path)


def test_c_takes_infinity_for_a_large_number(tmp_path: Path) -> None:
    check_c(infinite(), tmp_path)


JAVA_MAIN = """
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

public class Main {{
    static void show(Map<String, Object> row) {{
        StringBuilder line = new StringBuilder();
        line.append(Literati.leafId(row)).append(" ");
        line.append(Arrays.asList(Literati.CLASSES).indexOf(Literati.predict(row)));
        for (double p : Literati.predictProba(row)) line.append(" ").append(Double.toHexString(p));
        System.out.println(line);
    }}
{methods}
    public static void main(String[] arguments) {{
{calls}
    }}
}}
"""


def java_main(problem: Expected) -> str:
    methods = []
    for place, row in enumerate(map(problem.needed, problem.rows)):
        cells = ((name, "null" if cell is None else java_literal(cell)) for name, cell in row.items())
        puts = " ".join(f"row.put({java_literal(name)}, {cell});" for name, cell in cells)
        methods.append(
            f"    static void row{place}() {{ Map<String, Object> row = new HashMap<>(); {puts} show(row); }}"
        )
    calls = "\n".join(f"        row{place}();" for place in range(len(problem.rows)))
    return JAVA_MAIN.format(methods="\n".join(methods), calls=calls)


@pytest.fixture(scope="module")
def java_answers(tmp_path_factory: pytest.TempPathFactory) -> dict[Key, list[str]]:
    """Compile and run all problems together, each in a package, because a compiler takes seconds to start."""
    folder = tmp_path_factory.mktemp("java")
    packages = {f"p{place}": key for place, key in enumerate(PROBLEMS)}
    for package, key in packages.items():
        problem = expected(key, exact=False)
        (folder / package).mkdir()
        for name, text in {"Literati": problem.tree.to_java(), "Main": java_main(problem)}.items():
            (folder / package / f"{name}.java").write_text(f"package {package};\n{text}")
    calls = " ".join(f'System.out.println("{name}"); {name}.Main.main(arguments);' for name in packages)
    main = f"public class All {{ public static void main(String[] arguments) {{ {calls} }} }}"
    (folder / "All.java").write_text(main)
    run("javac", "-Xlint:all", "-Werror", "All.java", folder=folder)
    answers: dict[Key, list[str]] = {}
    for line in run("java", "-cp", ".", "All", folder=folder).splitlines():
        if line in packages:
            lines = answers[packages[line]] = []
        else:
            lines.append(line)
    return answers


@pytest.mark.parametrize("key", PROBLEMS)
def test_java(key: Key, java_answers: dict[Key, list[str]]) -> None:
    check(expected(key, exact=False), java_answers[key])


JAVA_REFUSALS = """
import java.math.BigInteger;
import java.util.*;

public class Main {
    static void refused(String name, Object cell) {
        Map<String, Object> row = new HashMap<>();
        for (String column : Literati.COLUMNS) row.put(column, null);
        row.put(name, cell);
        if (cell == null) row.remove(name);
        try { System.out.println(Literati.predict(row)); }
        catch (IllegalArgumentException error) { System.out.println(error.getMessage()); }
    }
    public static void main(String[] arguments) {
        refused("coarse", Double.POSITIVE_INFINITY);
        refused("coarse", new BigInteger("1" + "0".repeat(400)));
        refused("coarse", "1");
        refused("flag", 2);
        refused("word", 1);
        refused("word", null);
    }
}
"""


def test_java_refuses_what_the_library_refuses(tmp_path: Path) -> None:
    (tmp_path / "Literati.java").write_text(expected(0).tree.to_java())
    (tmp_path / "Main.java").write_text(JAVA_REFUSALS)
    run("javac", "Literati.java", "Main.java", folder=tmp_path)
    check_refusals(run("java", "-cp", ".", "Main", folder=tmp_path).splitlines())


def check_refusals(lines: list[str]) -> None:
    names = ["coarse", "coarse", "coarse", "flag", "word", "word"]
    assert [line.partition(":")[0] for line in lines] == names
    assert all("expected a" in line for line in lines[:5])
    assert "no such column" in lines[5]


JAVASCRIPT_MAIN = """
import {{ CLASSES, COLUMNS, leafId, predict, predictProba }} from "./tree.mjs";
const rows = [{rows}];
const answers = rows.map((row) => [leafId(row), CLASSES.indexOf(predict(row)), predictProba(row)]);
console.log(JSON.stringify(answers));
"""


@pytest.mark.parametrize("key", PROBLEMS)
def test_javascript(key: Key, tmp_path: Path) -> None:
    problem = expected(key, exact=False)
    rows = [
        ", ".join(f"[{json.dumps(name)}]: {javascript_literal(cell)}" for name, cell in row.items())
        for row in map(problem.needed, problem.rows)
    ]
    (tmp_path / "tree.mjs").write_text(problem.tree.to_javascript())
    (tmp_path / "main.mjs").write_text(JAVASCRIPT_MAIN.format(rows=", ".join(f"{{{row}}}" for row in rows)))
    answers = json.loads(run("node", "main.mjs", folder=tmp_path))
    for (leaf, label, shares), wanted, numbers in zip(
        answers, problem.leaves, problem.probabilities, strict=True
    ):
        assert leaf == wanted
        assert label == problem.tree.nodes[wanted].label
        assert shares == numbers


JAVASCRIPT_REFUSALS = """
import { COLUMNS, predict } from "./tree.mjs";
const empty = Object.fromEntries(COLUMNS.map((name) => [name, null]));
const cells = [["coarse", Infinity], ["coarse", 10n ** 400n], ["coarse", "1"], ["flag", 2], ["word", 1]];
const rows = cells.map(([name, cell]) => ({ ...empty, [name]: cell }));
const { word, ...rest } = empty;
for (const row of [...rows, rest]) {
  try { console.log(predict(row)); } catch (error) { console.log(error.message); }
}
"""


def test_javascript_refuses_what_the_library_refuses(tmp_path: Path) -> None:
    (tmp_path / "tree.mjs").write_text(expected(0).tree.to_javascript())
    (tmp_path / "main.mjs").write_text(JAVASCRIPT_REFUSALS)
    check_refusals(run("node", "main.mjs", folder=tmp_path).splitlines())
