"""Changes that remove one check from the store's scripts, each with the scenario that must notice it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.chaos import scenarios
from tests.chaos.cluster import Cluster
from tests.chaos.findings import Findings
from tests.support.paths import ROOT

LEASE = 2.5
RECONCILE = 0.25
ATTEMPTS = 3


@dataclass(frozen=True)
class Mutant:
    name: str
    script: str
    before: str
    after: str
    scenario: Callable[[Cluster, Findings], None]
    workers: int = 1

    def make(self, folder: Path) -> Path:
        """Copy the code and remove the check, which must be there exactly once."""
        for package in ("worker", "service"):
            shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
        script = folder / "worker" / "store" / "lua" / self.script
        text = script.read_text()
        assert text.count(self.before) == 1, f"{self.script} does not have {self.before!r} once"
        script.write_text(text.replace(self.before, self.after))
        return folder

    def caught(self, folder: Path) -> list[str]:
        """Run the scenario on the changed code and return the violations.

        A process that is suspended in the middle of a call to the store may write nothing when it is resumed,
        so a scenario that sees nothing is run again.
        """
        findings = Findings()
        with Cluster(
            folder / "stack",
            root=self.make(folder / "code"),
            workers=self.workers,
            children=1,
            lease=LEASE,
            reconcile=RECONCILE,
        ) as cluster:
            for _ in range(ATTEMPTS):
                if not len(findings):
                    self.scenario(cluster, findings)
        return [f"{violation.rule}: {violation.detail}" for violation in findings.violations]


MUTANTS = [
    Mutant(
        "no epoch check",
        "shared/leases.lua",
        "job.epoch == epoch and job.lease_until ~= ''",
        "job.lease_until ~= ''",
        scenarios.updates_after_a_lost_lease_are_refused,
        workers=2,
    ),
    Mutant(
        "no lease check",
        "shared/leases.lua",
        "job.epoch == epoch and job.lease_until ~= ''",
        "job.epoch == epoch",
        scenarios.updates_after_the_end_are_refused,
    ),
    Mutant(
        "no min and max on bounds",
        "shared/progress.lua",
        "    upper = greater(lesser(old_upper, upper), old_lower)\n"
        "    return upper, lesser(greater(old_lower, lower), upper)\n",
        "    return upper, lower\n",
        scenarios.bounds_never_get_worse,
    ),
]
