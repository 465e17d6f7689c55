"""The examples of docs/inference-protocols.md run and print what the page shows."""

from __future__ import annotations

import contextlib
import io
import subprocess
from typing import Any

import pytest

from tests.repo.test_readme import blocks
from tests.support.paths import ROOT
from tests.support.stack.stack import Stack

PAGE = ROOT / "docs" / "inference-protocols.md"
ADDRESS = "127.0.0.1:8000"


def test_the_examples(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    with Stack.with_worker_and_api(tmp_path_factory.mktemp("page")) as stack:
        monkeypatch.chdir(ROOT)
        monkeypatch.setenv("LITERATI_URL", stack.url)
        shown = [(language, text) for language, text, _ in blocks(PAGE)]
        namespace: dict[str, Any] = {}
        printed = ""
        count = 0
        for language, text in shown:
            if language == "text":
                assert printed.strip() == text.strip()
                count += 1
            else:
                printed = run(language, text.replace(ADDRESS, stack.url.removeprefix("http://")), namespace)
        namespace["client"].close()
        assert count == 4


def run(language: str, code: str, namespace: dict[str, Any]) -> str:
    if language == "sh":
        done = subprocess.run(["bash", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout
    assert language == "python"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(PAGE), "exec"), namespace)
    return printed.getvalue()
