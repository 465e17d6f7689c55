"""The examples of docs/exports.md run, in every language, and print what the page shows."""

from __future__ import annotations

import contextlib
import io
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.repo.test_readme import blocks
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "exports.md"
PROGRAMS = {  # the file of an example and the commands that the page names
    "javascript": ("main.mjs", "node main.mjs"),
    "java": ("Main.java", "javac Main.java Literati.java && java Main"),
    "c": ("main.c", "cc main.c tree.c -lm -o main && ./main"),
}


@pytest.mark.filterwarnings("ignore:.*AnyType:UserWarning")  # of MLflow's own classes
def test_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "page"}
    found = [*blocks(PAGE), ("", "", 0)]
    ran = []
    for place, (language, code, line) in enumerate(found):
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), namespace)
            printed = output.getvalue()
        elif language in PROGRAMS:
            name, command = PROGRAMS[language]
            assert f"`{command}`" in PAGE.read_text(encoding="utf-8")
            Path(name).write_text(code, encoding="utf-8")
            done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            printed = done.stdout
        else:
            continue
        following, shown, _ = found[place + 1]
        assert printed.strip() == (shown.strip() if following == "text" else ""), f"line {line}"
        ran.append(language)
    assert ran == ["python", "python", "javascript", "java", "c", *["python"] * 4]
