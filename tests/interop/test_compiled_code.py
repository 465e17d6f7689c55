"""Exports to C, Java and JavaScript, compiled and run."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest

from literati.tree.export.c_code import _text as c_text
from literati.tree.export.java import _literal as java_literal
from literati.tree.export.javascript import literal as javascript_literal
from literati.tree.model import ShapeTree
from tests.interop.expected import SEEDS, Expected, expected

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


def c_cell(tree: ShapeTree, index: int, cell: Any) -> str:
    column = tree.schema.columns[index]
    if cell is None or column.constant:
        return "NAN"
    if column.kind != "category":
        return repr(float(cell))
    if isinstance(cell, str):
        return f"literati_category_text({index}, {c_text(cell)})"
    if isinstance(cell, int):
        return f"literati_category_integer({index}, {int(cell)}LL)"
    return f"literati_category_number({index}, {cell!r})"


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


@pytest.mark.parametrize("seed", SEEDS)
def test_c(seed: int, tmp_path: Path) -> None:
    problem = expected(seed, exact=False)
    tree = problem.tree
    cells = [
        ", ".join(c_cell(tree, j, row[name]) for j, name in enumerate(problem.names)) for row in problem.rows
    ]
    rows = "\n".join(f"    {{ const double x[] = {{{row}}}; show(x); }}" for row in cells)
    source = tree.to_c() + C_MAIN.format(classes=len(tree.classes), rows=rows)
    (tmp_path / "tree.c").write_text(source)
    run("gcc", *WARNINGS, "-o", "tree", "tree.c", "-lm", folder=tmp_path)
    check(problem, run(tmp_path / "tree", folder=tmp_path).splitlines())


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


@pytest.mark.parametrize("seed", SEEDS)
def test_java(seed: int, tmp_path: Path) -> None:
    problem = expected(seed, exact=False)
    methods = []
    for place, row in enumerate(problem.rows):
        cells = ((name, "null" if cell is None else java_literal(cell)) for name, cell in row.items())
        puts = " ".join(f"row.put({java_literal(name)}, {cell});" for name, cell in cells)
        methods.append(
            f"    static void row{place}() {{ Map<String, Object> row = new HashMap<>(); {puts} show(row); }}"
        )
    calls = "\n".join(f"        row{place}();" for place in range(len(problem.rows)))
    (tmp_path / "Literati.java").write_text(problem.tree.to_java())
    (tmp_path / "Main.java").write_text(JAVA_MAIN.format(methods="\n".join(methods), calls=calls))
    run("javac", "-Xlint:all", "-Werror", "Literati.java", "Main.java", folder=tmp_path)
    check(problem, run("java", "-cp", ".", "Main", folder=tmp_path).splitlines())


JAVASCRIPT_MAIN = """
import { CLASSES, leafId, predict, predictProba } from "./tree.mjs";
const answers = ROWS.map((row) => [leafId(row), CLASSES.indexOf(predict(row)), predictProba(row)]);
console.log(JSON.stringify(answers));
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_javascript(seed: int, tmp_path: Path) -> None:
    problem = expected(seed, exact=False)
    objects = [
        "{" + ", ".join(f"{json.dumps(name)}: {javascript_literal(cell)}" for name, cell in row.items()) + "}"
        for row in problem.rows
    ]
    (tmp_path / "tree.mjs").write_text(problem.tree.to_javascript())
    rows = f"const ROWS = [{', '.join(objects)}];\n"
    (tmp_path / "main.mjs").write_text(JAVASCRIPT_MAIN.replace("const answers", rows + "const answers"))
    answers = json.loads(run("node", "main.mjs", folder=tmp_path))
    for (leaf, label, shares), wanted, numbers in zip(
        answers, problem.leaves, problem.probabilities, strict=True
    ):
        assert leaf == wanted
        assert label == problem.tree.nodes[wanted].label
        assert shares == numbers
        assert not any(math.isnan(number) for number in numbers)
