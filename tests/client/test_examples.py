"""The examples run as scripts and as notebooks, and the notebooks show what they print."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import matplotlib
import nbformat
import pytest

from examples.write_notebooks import SCRIPTS, notebook_of, run
from tests.support.paths import ROOT
from tests.support.stack.stack import Stack

matplotlib.use("Agg")
SCRIPT = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


def stored(script: Path) -> Any:
    return nbformat.read(script.with_suffix(".ipynb"), as_version=4)


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def printed(notebook: Any) -> str:
    return "".join(output.text for output in outputs(notebook) if output.get("name") == "stdout")


def displayed(notebook: Any) -> list[list[str]]:
    """Return the media types of every display."""
    return [sorted(output.data) for output in outputs(notebook) if "data" in output]


@SCRIPT
def test_the_notebook_has_the_cells_of_the_script(script: Path) -> None:
    cells = [
        [(cell.cell_type, cell.id, cell.source) for cell in notebook.cells]
        for notebook in (stored(script), notebook_of(script))
    ]
    assert cells[0] == cells[1], "run `make notebooks` while the service runs"


@SCRIPT
def test_the_stored_outputs(script: Path) -> None:
    notebook = stored(script)
    kinds = {output.output_type for output in outputs(notebook)}
    assert kinds <= {"stream", "execute_result", "display_data"}  # and no error
    text = script.with_suffix(".ipynb").read_text()
    assert len(text) < 500_000
    assert "<img alt='Shape tree of depth" in text
    assert not re.search(r"/(tmp|home|root|usr|work|Users)/|site-packages|Warning", text)


@SCRIPT
def test_the_notebook_runs(
    script: Path, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loans.csv").symlink_to(ROOT / "examples" / "loans.csv")
    monkeypatch.setenv("LITERATI_URL", stack.url)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    before, after = stored(script), run(notebook_of(script), tmp_path)
    assert printed(after) == printed(before)
    assert displayed(after) == displayed(before)


@SCRIPT
def test_the_script_runs(
    script: Path, stack: Stack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LITERATI_URL", stack.url)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out == printed(stored(script))
