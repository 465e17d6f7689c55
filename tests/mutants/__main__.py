"""`make mutants`: change the code in one small place at a time; the named test must fail."""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from queue import SimpleQueue

from tests.mutants.mutant import Mutant
from tests.mutants.source_copy import Outcome, SourceCopy
from tests.mutants.table import EXPLAINED, MUTANTS, stale


def chosen(words: list[str]) -> list[Mutant]:
    """Return the mutants whose file or texts contain one of the words, or all if there are no words."""
    return [
        mutant
        for mutant in MUTANTS
        if not words or any(word in f"{mutant.file} {mutant.original} {mutant.replacement}" for word in words)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("words", nargs="*", help="only mutants whose file or text contains one of these")
    parser.add_argument("--jobs", type=int, default=1, help="how many are tried at the same time")
    given = parser.parse_args()
    mutants, began = chosen(given.words), time.monotonic()
    if not mutants:
        print(f"no mutant contains {' or '.join(given.words)}", file=sys.stderr)
        return 2
    if lost := stale():
        print("the code has changed: these texts are not there exactly once:", file=sys.stderr)
        print(*lost, sep="\n", file=sys.stderr)
        return 1
    copies: SimpleQueue[SourceCopy] = SimpleQueue()
    print("building ...", flush=True)
    for number in range(given.jobs):
        copy = SourceCopy(number)
        copy.prepare()
        copies.put(copy)
    if red := copy.baseline(mutants):
        print(f"these tests fail without any mutant, so they show nothing:\n{red}", file=sys.stderr)
        return 1
    print(
        f"{len(mutants)} mutants; the tests pass without them ({time.monotonic() - began:.0f} s)", flush=True
    )

    def attempt(same_file: list[Mutant]) -> list[Outcome]:
        copy = copies.get()
        try:
            return [report(copy.attempt(mutant)) for mutant in same_file]
        finally:
            copies.put(copy)

    def report(outcome: Outcome) -> Outcome:
        print(f"{outcome.verdict:9} {outcome.seconds:5.1f} s  {outcome.mutant.title()}", flush=True)
        if outcome.verdict != "killed":
            print(outcome.detail, flush=True)
        return outcome

    groups = [list(group) for _, group in groupby(mutants, key=lambda mutant: mutant.file)]
    with ThreadPoolExecutor(given.jobs) as pool:
        outcomes = [outcome for group in pool.map(attempt, groups) for outcome in group]
    alive = [outcome for outcome in outcomes if outcome.verdict != "killed"]
    for mutant, why in EXPLAINED.items():
        print(f"no test can tell: {mutant.title()}: {why}")
    print(
        f"{len(outcomes) - len(alive)} of {len(outcomes)} mutants killed, {len(EXPLAINED)} explained, "
        f"in {time.monotonic() - began:.0f} s with {given.jobs} at a time ({os.cpu_count()} cores)"
    )
    for outcome in alive:
        print(f"{outcome.verdict.upper()}: {outcome.mutant.title()}\n    {outcome.mutant.test}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
