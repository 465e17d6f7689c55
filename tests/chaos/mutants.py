"""Copies of the stack with one check taken out of the store's scripts, and the scenario that must notice."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stack import ROOT

from . import scenarios
from .cluster import Cluster
from .findings import Findings

LEASE = 2.5
RECONCILE = 0.25


@dataclass(frozen=True)
class Mutant:
    name: str
    script: str
    before: str
    after: str
    scenario: Callable[[Cluster, Findings], None]
    workers: int = 1

    def make(self, folder: Path) -> Path:
        """The code with the check taken out; it is an error if there is no such check any more."""
        for package in ("worker", "service"):
            shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
        script = folder / "worker" / "store" / "lua" / self.script
        text = script.read_text()
        assert text.count(self.before) == 1, f"{self.script} does not have {self.before!r} once"
        script.write_text(text.replace(self.before, self.after))
        return folder

    def caught(self, folder: Path) -> list[str]:
        """The violations that its scenario finds."""
        findings = Findings()
        with Cluster(
            folder / "stack",
            root=self.make(folder / "code"),
            workers=self.workers,
            children=1,
            lease=LEASE,
            reconcile=RECONCILE,
        ) as cluster:
            self.scenario(cluster, findings)
        return [f"{violation.rule}: {violation.detail}" for violation in findings.violations]


MUTANTS = [
    Mutant(
        "no epoch check",
        "prelude.lua",
        "job.epoch == epoch and job.lease_until ~= ''",
        "job.lease_until ~= ''",
        scenarios.no_word_of_one_who_lost_the_job,
        workers=2,
    ),
    Mutant(
        "no lease check",
        "prelude.lua",
        "job.epoch == epoch and job.lease_until ~= ''",
        "job.epoch == epoch",
        scenarios.no_word_after_the_end,
    ),
    Mutant(
        "no min and max on bounds",
        "merge.lua",
        "    upper = greater(lesser(old_upper, upper), old_lower)\n"
        "    return upper, lesser(greater(old_lower, lower), upper)\n",
        "    return upper, lower\n",
        scenarios.no_bound_is_taken_back,
    ),
]
