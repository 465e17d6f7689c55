"""`make chaos`: run a long campaign, show its progress, and write the result as JSON."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.chaos.campaign import Campaign, Plan
from tests.chaos.mutants import MUTANTS
from tests.support.paths import ROOT

OUTPUT = ROOT / "build" / "chaos.json"
_TOLD = ("datasets", "lost_workers", "orphaned_blobs")
OVERHEAD_SECONDS = 180.0  # for the start, the last jobs, the audit and the mutants


class Line:
    """Show progress: a line that is updated on a terminal, elsewhere a new line every half minute."""

    def __init__(self) -> None:
        self._every = 0.5 if sys.stdout.isatty() else 30.0
        self._said = 0.0
        self._began = time.monotonic()

    def say(self, campaign: Campaign) -> None:
        now = time.monotonic()
        if now - self._said < self._every:
            return
        self._said = now
        accepted, over = campaign.accepted.counts()
        text = (
            f"{_clock(now - self._began)}  {accepted} jobs, {over} ended  "
            f"{campaign.faults.killed} of {campaign.plan.kills} kills  "
            f"{campaign.faults.zombies} of {campaign.plan.zombies} zombies  "
            f"{len(campaign.findings)} violations"
        )
        print(f"\r{text}\x1b[K" if sys.stdout.isatty() else text, end="", flush=True)
        if not sys.stdout.isatty():
            print(flush=True)


def _clock(seconds: float) -> str:
    return f"{int(seconds // 60)}:{int(seconds % 60):02d}"


def main() -> int:
    given = _arguments()
    plan = Plan(
        seed=given.seed,
        jobs=given.jobs,
        kills=given.kills,
        zombies=given.zombies,
        sweeps=given.sweeps,
        seconds=max(60.0, 60 * given.minutes - OVERHEAD_SECONDS),
    )
    print(f"Seed {plan.seed} (make chaos SEED={plan.seed} draws the same faults and jobs)", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="literati-chaos-"))
    found: dict[str, Any] = {
        "campaign": Campaign(plan, folder / "campaign").run(Line().say),
        "mutants": _mutants(folder),
    }
    failures = _failures(plan, found)
    found["failures"] = failures
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(json.dumps(found, indent=2) + "\n")
    _summary(found)
    print(f"\nAll of it: {given.output}")
    if failures:
        print(f"The stack's data and logs: {folder}")
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--jobs", type=int, default=300, help="at least")
    parser.add_argument("--sweeps", type=int, default=40, help="at least")
    parser.add_argument("--kills", type=int, default=500, help="at least")
    parser.add_argument("--zombies", type=int, default=50, help="at least")
    parser.add_argument("--minutes", type=float, default=35.0, help="to be done in, roughly")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args()


def _mutants(folder: Path) -> dict[str, list[str]]:
    """Return the violations that were found in each mutant."""
    return {mutant.name: mutant.caught(folder / f"mutant-{number}") for number, mutant in enumerate(MUTANTS)}


def _failures(plan: Plan, found: dict[str, Any]) -> list[str]:
    campaign = found["campaign"]
    failures = [f"{campaign['violations']} violations"] if campaign["violations"] else []
    wanted = {"jobs": plan.jobs, "sweeps": plan.sweeps, "kills": plan.kills, "zombies": plan.zombies}
    failures += [
        f"{campaign[name]} {name}, {least} were wanted"
        for name, least in wanted.items()
        if campaign[name] < least
    ]
    failures += [f"not caught: {name}" for name, noticed in found["mutants"].items() if not noticed]
    return failures


def _summary(found: dict[str, Any]) -> None:
    campaign = found["campaign"]
    print(f"\n\n{_clock(campaign['seconds'])} min, seed {campaign['plan']['seed']}\n")
    _table("faults injected", campaign["faults"])
    _table("jobs by their end", campaign["states"])
    _table("sweeps by their end", campaign["sweep_states"])
    _table("what it came to", {name.replace("_", " "): campaign[name] for name in _TOLD})
    _table("looked at", campaign["counts"] | {"slowest, seconds": campaign["slowest"][0]})
    _table(
        "checks taken out", {name: "caught" if hits else "MISSED" for name, hits in found["mutants"].items()}
    )
    totals = {name: campaign[name] for name in ("jobs", "sweeps", "kills", "zombies", "violations")}
    _table("in all", totals)
    for violation in campaign["violation_list"][:20]:
        print(f"  {violation['rule']}: {violation['detail'][:500]}")
    print("; ".join(found["failures"]) or "No promise was broken.")


def _table(title: str, lines: dict[str, Any]) -> None:
    print(title)
    for name, value in lines.items():
        print(f"  {name:<28} {value:>10}")
    print()


if __name__ == "__main__":
    sys.exit(main())
