"""`make test`: run the tests side by side, then those that measure time, and list what was skipped.

Tests of processes, pages and times depend on the speed of the machine. Those that failed are run once more,
when nothing else runs; what fails again has failed, and what passes then is listed.

Arguments are passed on to pytest: `make test ARGS="-k name"`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from literati.cores import usable_cores
from tests.support.paths import ROOT

MAX_WORKERS = 4  # each has stacks and a browser of its own
# Tests of the service often wait for processes, so two more workers than cores use the cores better.
WORKERS = min(usable_cores() + 2, MAX_WORKERS)
REPORTS = ROOT / "build" / "tests"
NO_TESTS = 5  # pytest's exit code if nothing was selected
FAILED = 1  # pytest's exit code if tests failed; others mean that it could not run them
MAX_AGAIN = 10  # failed tests that are run again; more have another cause than the speed of the machine
RUNS = {
    "side by side": ["-n", str(WORKERS), "--dist", "worksteal", "-m", "not alone"],
    "alone": ["-m", "alone"],
}
INTRODUCTION = """
All tests, side by side, and then those that measure time: about 20 minutes on two cores.
`make check` runs the quick ones. Not run by either:
make fuzz, chaos, mutants, sanitize, test-compose, test-interop, dist.
"""


def main() -> int:
    print(INTRODUCTION, flush=True)
    start = time.monotonic()
    arguments = sys.argv[1:]
    runs = {"chosen": []} if "-m" in arguments else RUNS
    _failed_tests(forget=True)
    codes = {name: _run(name, options, arguments) for name, options in runs.items()}
    reports = [_report(name) for name, code in codes.items() if code != NO_TESTS]
    bad = {code for code in codes.values() if code not in (0, NO_TESTS)}
    if bad == {FAILED}:
        bad = _run_again(arguments)
    _summarize(reports, time.monotonic() - start)
    return max(bad) if bad else min(codes.values())


def _run_again(arguments: list[str]) -> set[int]:
    """Run the failed tests that depend on the machine; return {FAILED} if any failure remains."""
    before = _failed_tests()
    if len(before) > MAX_AGAIN:
        return {FAILED}
    print(f"\n{len(before)} tests failed. Those that depend on the machine are run again, alone.", flush=True)
    _run("again", ["--last-failed", "-m", "stack or browser or alone"], arguments)
    after = _failed_tests()
    for name in sorted(before - after):
        print(f"Failed once and passed when it was run again: {name}")
    return {FAILED} if after else set()


def _failed_tests(*, forget: bool = False) -> set[str]:
    """Return the tests whose last run failed, as pytest remembers them."""
    memory = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
    if forget:
        memory.unlink(missing_ok=True)
    return set(json.loads(memory.read_text())) if memory.exists() else set()


def _report(name: str) -> Path:
    return REPORTS / f"{name.replace(' ', '-')}.xml"


def _run(name: str, options: list[str], arguments: list[str]) -> int:
    REPORTS.mkdir(parents=True, exist_ok=True)
    _report(name).unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={_report(name)}", *options, *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def _summarize(reports: list[Path], seconds: float) -> None:
    """Print how many tests there were, and why some were skipped."""
    tests, reasons = 0, Counter[str]()
    for report in filter(Path.exists, reports):
        for case in ElementTree.parse(report).iter("testcase"):
            tests += 1
            reasons.update(
                skipped.get("message", "")
                for skipped in case.iter("skipped")
                if skipped.get("type") == "pytest.skip"
            )
    print(f"\n{tests} tests in {seconds / 60:.1f} minutes, {reasons.total() or 'none'} skipped.")
    for reason, count in reasons.most_common():
        print(f"  {count} x {reason}")


if __name__ == "__main__":
    sys.exit(main())
