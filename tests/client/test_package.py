"""The package: what it needs, and that both forms of the client are the same."""

from __future__ import annotations

import inspect
import runpy
import subprocess
import sys
from typing import Any

import pytest

from literati import LiteratiClassifier
from literati import client as package
from literati.client import RemoteClassifier
from tests.support.paths import ROOT

BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "httpx2":
            raise ModuleNotFoundError("No module named 'httpx2'", name="httpx2")
sys.meta_path.insert(0, Blocker())
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_synchronous_client_is_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "core" / "write_sync_client.py"))
    folder = ROOT / "core" / "literati" / "client" / "_sync"
    written = {path.name: path.read_text() for path in folder.glob("*.py") if path.name != "runtime.py"}
    assert written == script["sync_sources"](), "run `make client`"


def test_both_runtimes_have_the_same_names() -> None:
    names: list[dict[str, list[str]]] = []
    for form in ("_async", "_sync"):
        module = runpy.run_path(str(ROOT / "core" / "literati" / "client" / form / "runtime.py"))
        functions = {name: value for name, value in module.items() if inspect.isfunction(value)}
        own = {name: value for name, value in functions.items() if value.__module__ == "<run_path>"}
        names.append({name: list(inspect.signature(value).parameters) for name, value in own.items()})
    assert names[0] == names[1]
    assert "sleep" in names[0]


def test_the_library_needs_no_http_package() -> None:
    code = "import sys, literati; literati.LiteratiClassifier; assert 'httpx2' not in sys.modules"
    assert run(BLOCKED + code).returncode == 0
    done = run(BLOCKED + "import literati.client")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == (
        "ImportError: literati.client needs the package httpx2. "
        "Install it with: pip install 'literati-trees[client]'"
    )


def test_the_client_does_not_import_scikit_learn_at_once() -> None:
    code = "import sys, literati.client; assert 'sklearn' not in sys.modules and 'pyarrow' not in sys.modules"
    done = run(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", package.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(package, name).__doc__


def test_the_parameters_of_the_remote_classifier() -> None:
    def defaults(estimator: Any) -> dict[str, Any]:
        return {name: p.default for name, p in inspect.signature(estimator).parameters.items()}

    own = {"client": None, "keep": True}
    assert defaults(RemoteClassifier) == {**own, **defaults(LiteratiClassifier)}
    assert RemoteClassifier(max_depth=3, n_threads=2).get_params()["n_threads"] == 2
