"""`make audit` with the real pip-audit and an advisory service that the test runs."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

PYTHON = ROOT / "build" / "audit" / "bin" / "python"
SCRIPT = ROOT / "requirements" / "audit.py"
LOCKS = [ROOT / "requirements" / f"{name}.txt" for name in ("runtime", "service", "dev")]
CANARY = ("urllib3", "1.24.1")

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="no pip-audit (make build/audit/.installed)")

Asked = tuple[str, str]  # a package and its version
Advice = Callable[[Asked], bool]  # whether it is vulnerable


@contextmanager
def advisories(vulnerable: Advice) -> Iterator[tuple[str, list[Asked]]]:
    """Run a service with the API of OSV; return its address and the list of packages it was asked about."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name, version = query["package"]["name"], query["version"]
            asked.append((name, version))
            body = json.dumps(_flaw(name) if vulnerable((name, version)) else {}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def _flaw(name: str) -> dict[str, Any]:
    events = [{"introduced": "0"}, {"fixed": "99.1"}]
    affected = {
        "package": {"name": name, "ecosystem": "PyPI"},
        "ranges": [{"type": "ECOSYSTEM", "events": events}],
    }
    return {"vulns": [{"id": "PYSEC-2026-1", "summary": "Made up.", "affected": [affected]}]}


def audit(url: str, *locks: Path) -> subprocess.CompletedProcess[str]:
    service = ["--vulnerability-service", "osv", "--osv-url", url, "--timeout", "5"]
    command = [str(PYTHON), str(SCRIPT), *map(str, locks), "--", *service]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """Return a lock file with two versions of one package and a package for another system."""
    path = tmp_path / "lock.txt"
    digest = f"--hash=sha256:{64 * 'a'}"
    path.write_text(
        f"# a remark\nnumpy==2.4.6 ; python_full_version < '3.12' \\\n    {digest} \\\n    {digest[:-1]}b\n"
        f"    # via something\nnumpy==2.5.4 ; python_full_version >= '3.12' \\\n    {digest}\n"
        f"pywin32==311 ; sys_platform == 'win32' \\\n    {digest}\n"
    )
    return path


def test_every_locked_package_is_asked_about() -> None:
    with advisories(lambda pin: pin == CANARY) as (url, asked):
        done = audit(url, *LOCKS)
    assert done.returncode == 0, done.stderr
    locked = "".join(path.read_text() for path in LOCKS)
    pins = set(re.findall(r"^([a-z0-9-]+)==([^\s;]+)", locked, re.MULTILINE))
    assert set(asked) == pins | {CANARY}
    assert done.stdout == f"{len(pins)} packages were audited; no vulnerability is known.\n"


def test_a_vulnerable_package(lock: Path) -> None:
    with advisories(lambda pin: pin in (CANARY, ("numpy", "2.5.4"), ("pywin32", "311"))) as (url, _):
        done = audit(url, lock)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Known vulnerabilities:",
        "numpy 2.5.4: PYSEC-2026-1, fixed in 99.1",
        "pywin32 311: PYSEC-2026-1, fixed in 99.1",
    ]


def test_a_service_that_says_nothing_is_not_believed(lock: Path) -> None:
    with advisories(lambda pin: False) as (url, _):
        done = audit(url, lock)
    assert done.returncode == 2
    assert "cannot be relied on" in done.stderr
    assert not done.stdout


def test_a_service_that_is_away(lock: Path) -> None:
    with advisories(lambda pin: False) as (url, _):
        pass
    done = audit(url, lock)
    assert done.returncode == 2
    assert done.stderr.startswith("Nothing was audited: ")
    assert not done.stdout


def test_a_package_without_a_hash(lock: Path) -> None:
    lock.write_text("numpy==2.4.6\n")
    with advisories(lambda pin: pin == CANARY) as (url, _):
        done = audit(url, lock)
    assert done.returncode == 2
    assert "does not contain a hash" in done.stderr


def test_a_package_that_the_service_does_not_know() -> None:
    """PyPI reports an unknown package, and pip-audit passes that on; OSV does not report it."""
    code = (
        "import audit; pins = [audit.Pin('a', '1', ()), audit.Pin('b', '2', ())]\n"
        "known = [{'name': 'a', 'version': '1', 'vulns': []}, {'name': 'b', 'skip_reason': 'not found'}]\n"
        "try: audit.check(pins, known)\n"
        "except audit.NotAuditedError as error: print(error)\n"
    )
    done = subprocess.run([PYTHON, "-c", code], cwd=SCRIPT.parent, capture_output=True, text=True)
    assert done.stdout.startswith("1 of 2 packages could not be audited"), done.stderr
    assert "b 2." in done.stdout
