"""The examples of docs/command-line.md run and print what the page shows, and it tells every exit code."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from literati.cli.errors import ExitCode
from tests.repo.test_readme import blocks, table
from tests.support.paths import ROOT
from tests.support.stack.stack import Stack

PAGE = ROOT / "docs" / "command-line.md"


def test_the_examples(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    found = blocks(PAGE)
    examples = [
        (code, found[place + 1]) for place, (language, code, _) in enumerate(found) if language == "sh"
    ]
    assert len(examples) == 5
    function = f'literati() {{ {shlex.quote(sys.executable)} -m literati "$@"; }}\nset -eu\n'
    marker = "--- next ---"
    script = function + f"echo '{marker}'\n".join(code for code, _ in examples)
    environment = {**os.environ, "LITERATI_URL": stack.url, "PYTHONPATH": str(ROOT / "core")}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{marker}\n")
    for output, (_, (language, shown, line)) in zip(printed, examples, strict=True):
        assert language == "text"
        assert output.strip() == shown.strip(), f"line {line}"
    assert (tmp_path / "loans" / "tree.svg").exists()
    assert "CASE" in (tmp_path / "loans" / "tree.sql").read_text()


def test_every_exit_code_is_told() -> None:
    assert [int(row[0]) for row in table("| exit code |", PAGE)] == list(ExitCode)
