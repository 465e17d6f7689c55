"""Changes to the polish of a tree."""

from __future__ import annotations

from .engine import Changes

POLISH = "tests/core/test_polish.py::"

MUTANTS: Changes = {
    "_polish.pyx": [
        (
            "wishes.floor += self.split_penalty",
            "wishes.floor += 0",
            POLISH + "test_single_nodes_are_optimal_and_nothing_got_worse[0]",
        ),
        (
            "if left != right:",
            "if left != right and left:",
            POLISH + "test_single_nodes_are_optimal_and_nothing_got_worse[0]",
        ),
    ],
    "_wishes.pyx": [
        (
            "(fee if count > 1 else 0.0)",
            "fee",
            POLISH + "test_single_nodes_are_optimal_and_nothing_got_worse[0]",
        ),
        (
            "if job.group * job.rising < 0:",
            "if job.group * job.rising > 0:",
            POLISH + "test_single_nodes_are_optimal_and_nothing_got_worse[0]",
        ),
        (
            "last = job.prefix if (count + first) & 1 else 0.0",
            "last = job.prefix",
            POLISH + "test_single_nodes_are_optimal_and_nothing_got_worse[0]",
        ),
        (
            "job.missing > 0 else 0.0",
            "job.missing < 0 else 0.0",
            POLISH + "test_single_nodes_are_optimal_and_nothing_got_worse[0]",
        ),
    ],
}
