"""`make test`: run the tests side by side, then those that measure time, and list what was skipped.

Tests of processes, pages and times depend on the speed of the machine. If only few of them failed, they are
run once more, when nothing else runs, and those that pass then are listed.

Arguments are passed on to pytest: `make test ARGS="-k name"`. With arguments, no test is run twice.
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
CACHE = REPORTS / "cache"
FAILED_TESTS = CACHE / "v" / "cache" / "lastfailed"  # their ids, as pytest stores them
CRASH = "crashed while running"  # in xdist's report of a process that died
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
    FAILED_TESTS.unlink(missing_ok=True)
    codes = {name: _run(name, options, arguments) for name, options in runs.items()}
    reports = [_report(name) for name, code in codes.items() if code != NO_TESTS]
    bad = {code for code in codes.values() if code not in (0, NO_TESTS)}
    if bad == {FAILED} and not arguments and _pass_alone(reports):
        bad.clear()
    _summarize(reports, time.monotonic() - start)
    if bad:
        return max(bad)
    return NO_TESTS if set(codes.values()) == {NO_TESTS} else 0


def _pass_alone(reports: list[Path]) -> bool:
    """Run the failed tests again. Return whether all of them depend on the machine and pass now."""
    failed = sorted(json.loads(FAILED_TESTS.read_text())) if FAILED_TESTS.exists() else []
    crashed = any(CRASH in report.read_text() for report in reports)
    if crashed or not 0 < len(failed) <= MAX_AGAIN:
        return False
    print(f"\n{len(failed)} tests failed. Those that depend on the machine are run again, alone.", flush=True)
    if _run("again", ["-m", "stack or browser or alone"], failed) != 0:
        return False
    cases = list(ElementTree.parse(_report("again")).iter("testcase"))
    if len(cases) < len(failed) or any(case.find("skipped") is not None for case in cases):
        return False
    for name in failed:
        print(f"Failed once and passed when it was run again: {name}")
    return True


def _report(name: str) -> Path:
    return REPORTS / f"{name.replace(' ', '-')}.xml"


def _run(name: str, options: list[str], arguments: list[str]) -> int:
    REPORTS.mkdir(parents=True, exist_ok=True)
    _report(name).unlink(missing_ok=True)
    written = [f"--junitxml={_report(name)}", "-o", f"cache_dir={CACHE}"]
    command = [sys.executable, "-m", "pytest", "-q", *written, *options, *arguments]
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
