"""`make fuzz`: run many random fits of the public estimator and report broken promises."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from threading import Timer

from tests.fuzz.cases import draw
from tests.fuzz.checks import Finding, examine
from tests.fuzz.reproduction import minimal, script

CHUNK = 25
SHOWN = 3  # at most so many scripts for each kind of failure
SHRINK_SECONDS = 20.0
STUCK_SECONDS = 300.0
REPORT_SECONDS = 10.0


def stuck(seed: int) -> None:
    print(f"STUCK: problem {seed} has not come back for {STUCK_SECONDS:g} s", file=sys.stderr, flush=True)
    os._exit(3)


def attempt(seed: int) -> Finding:
    """Check the case of a seed, a second time if it was late, since the machine may have been busy."""
    alarm = Timer(STUCK_SECONDS, stuck, [seed])
    alarm.daemon = True
    alarm.start()
    try:
        finding = examine(draw(seed))
        return examine(draw(seed)) if finding.kind() == "late" else finding
    finally:
        alarm.cancel()


def attempts(seeds: list[int]) -> list[tuple[int, Finding]]:
    return [(seed, attempt(seed)) for seed in seeds]


def tell(seed: int, finding: Finding) -> None:
    print(f"\n--- problem {seed}: {finding.broken[0]}", flush=True)
    case = minimal(draw(seed), finding.kind(), SHRINK_SECONDS)
    for broken in examine(case).broken[:3] or finding.broken[:3]:
        print(f"# {broken}")
    print(script(case), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("--seed", type=int, default=0, help="draws other problems")
    parser.add_argument("--problems", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    given = parser.parse_args()
    first, began, told = given.seed * 1_000_000, time.monotonic(), time.monotonic()
    seeds = range(first, first + given.problems)
    chunks = [list(seeds[at : at + CHUNK]) for at in range(0, given.problems, CHUNK)]
    words: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    failures: list[tuple[int, Finding]] = []
    done = 0
    with ProcessPoolExecutor(given.jobs) as pool:
        futures = [pool.submit(attempts, chunk) for chunk in chunks]
        try:
            for future in as_completed(futures):
                for seed, finding in future.result():
                    done += 1
                    words.update(finding.words)
                    if finding.broken:
                        kinds[finding.kind()] += 1
                        failures.append((seed, finding))
                if time.monotonic() - told > REPORT_SECONDS:
                    told = time.monotonic()
                    print(f"{told - began:6.0f} s  {done} problems, failures: {dict(kinds)}", flush=True)
        except BrokenProcessPool:
            print(f"a process was lost after {done} problems", file=sys.stderr)
            return 1
    shown: Counter[str] = Counter()
    for seed, finding in sorted(failures, key=lambda failure: failure[0]):
        shown[finding.kind()] += 1
        if shown[finding.kind()] <= SHOWN:
            tell(seed, finding)
    print(f"\n{done} problems in {time.monotonic() - began:.0f} s (SEED={given.seed})")
    for word, count in words.most_common():
        print(f"  {count:6} {word}")
    print(f"{len(failures)} failures {dict(kinds)}")
    if failures:
        print("seeds: " + " ".join(str(seed) for seed, _ in sorted(failures, key=lambda f: f[0])[:200]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
