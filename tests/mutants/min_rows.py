"""Changes to `min_samples_leaf`: the rows that every interval of a split holds."""

from __future__ import annotations

from tests.mutants.engine import Changes

TESTS = "tests/core/search/test_min_samples_leaf.py::"
DEPTH_1 = TESTS + "test_random_problems[all-1]"
DEPTH_2 = TESTS + "test_random_problems[adaptive-2]"
POLISH = TESTS + "test_polishing_improves_trees_and_keeps_every_interval"
NOISE = TESTS + "test_noise_over_every_cut[all-3]"

MUTANTS: Changes = {
    "_min_rows.pxd": [
        (
            "if data.min_rows <= at <= scan.known - data.min_rows:",
            "if data.min_rows <= at <= scan.known - data.min_rows + 1:",
            DEPTH_1,
        ),
        (
            "return known - before >= data.min_rows",
            "return known - before >= 1",
            TESTS + "test_larger_problems[all]",
        ),
    ],
    "_min_rows.pyx": [
        (
            "while scan.at[next_far] <= scan.at[c] - data.min_rows:",
            "while scan.at[next_far] <= scan.at[c] - data.min_rows + 1:",
            DEPTH_1,
        ),
        (
            "if scan.known >= data.min_rows and scan.n_missing >= data.min_rows:",
            "if scan.known >= data.min_rows and scan.n_missing > 0:",
            TESTS + "test_the_definition_by_an_example",
        ),
    ],
    "_cart.pyx": [
        (
            "for i in range(max(known - data.min_rows, 0), known):",
            "for i in range(max(known - data.min_rows + 1, 0), known):",
            DEPTH_2,
        ),
        (
            "n_missing, data.min_rows, counts",
            "n_missing, 1, counts",
            TESTS + "test_missing_values_and_many_classes[adaptive]",
        ),
    ],
    "_gaps.pyx": [
        (
            "return child(c, right).lower if data.min_rows == 1 else child(c, right).relaxed",
            "return child(c, right).lower",
            NOISE,
        ),
    ],
    "_polish_min_rows.pyx": [
        (
            "self.subtree_holds(tree, node.left) and self.subtree_holds(tree, node.right)\n\n    cdef",
            "True\n\n    cdef",
            POLISH,
        ),
    ],
    "_depth2_every_cut.pyx": [
        (
            "            if cost < solve.value and data.min_rows == 1:",
            "            if cost < solve.value:",
            NOISE,
        ),
    ],
    "_engine.pyx": [
        (
            "shape_of_space += (int(self.min_samples_leaf),)",
            "pass",
            TESTS + "test_a_checkpoint_resumes_and_belongs_to_its_minimum[adaptive]",
        ),
    ],
}
