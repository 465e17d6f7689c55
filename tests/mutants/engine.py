"""Changes to the search: bounds, prunes, gaps, intervals, sweeps, candidates, cache and checkpoints.

An entry is (original text, replacement, the test that fails with it).
"""

from __future__ import annotations

Changes = dict[str, list[tuple[str, str, str]]]

LARGER = "tests/core/test_larger_problems.py::"
FIRST = "tests/core/test_first_bounds.py::"
ANYTIME = "tests/core/test_anytime.py::"

MUTANTS: Changes = {
    "_bounds.pyx": [
        (
            "(leaves - 1) * p.split_cost + outside",
            "leaves * p.split_cost + outside",
            FIRST + "test_the_first_lower_bound_is_that_of_the_classes[all]",
        ),
        (
            "(leaves - 1) * p.split_cost + doomed",
            "leaves * p.split_cost + doomed",
            FIRST + "test_the_first_lower_bound_is_that_of_the_classes[adaptive]",
        ),
        (
            "most_leaves = 1 << depth",
            "most_leaves = depth + 1",
            FIRST + "test_many_classes_on_few_leaves_are_bounded_at_once",
        ),
        (
            "if outside <= doomed:",
            "if False:",
            FIRST + "test_the_first_lower_bound_is_that_of_the_classes[adaptive]",
        ),
        (
            "heap[child + 1] > heap[child]:",
            "heap[child + 1] < heap[child]:",
            FIRST + "test_the_first_lower_bound_is_that_of_the_classes[adaptive]",
        ),
        (
            "for c in range(n // 2 - 1, -1, -1):",
            "for c in range(n // 2 - 1, 0, -1):",
            FIRST + "test_the_first_lower_bound_is_that_of_the_classes[adaptive]",
        ),
    ],
    "_gaps.pyx": [
        (
            "if k + 1 < p.max_k:\n        lower",
            "if False:\n        lower",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "grown = child(gap.below, grows_right)",
            "grown = child(gap.below, not grows_right)",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "kept = child(gap.prefix, not grows_right)",
            "kept = child(gap.prefix, grows_right)",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "child(gap.above, not grows_right).lower)\n    lower",
            "child(gap.above, grows_right).lower)\n    lower",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "(k + 1) * p.refine_cost + grown",
            "(k + 2) * p.refine_cost + grown",
            LARGER + "test_bands_with_penalties",
        ),
        (
            "(1 if side else 0)",
            "0",
            LARGER + "test_a_column_that_has_a_value_or_none[all]",
        ),
        (
            "for side in range(2 if s.rows.known[j] < s.n else 1):",
            "for side in range(1):",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "c.shape.at[c.shape.n_cuts - 1] + 1",
            "c.shape.at[c.shape.n_cuts - 1] + 2",
            LARGER + "test_the_optimum_is_found[quantile-4-0]",
        ),
        (
            "(commit_lower(gap.below) - budget) // row_cost + 1",
            "(commit_lower(gap.below) - budget) // row_cost + 2",
            LARGER + "test_thresholds_of_many_values[quantile-3]",
        ),
        (
            "(commit_lower(gap.above) - budget) // row_cost - 1",
            "(commit_lower(gap.above) - budget) // row_cost - 2",
            LARGER + "test_thresholds_of_many_values[quantile-3]",
        ),
        (
            "cost_t row_cost = p.heaviest * p.weight_cost\n    cdef int32_t k",
            "cost_t row_cost = p.weight_cost\n    cdef int32_t k",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "cost_t row_cost = p.heaviest * p.weight_cost\n    cdef int32_t between",
            "cost_t row_cost = p.weight_cost\n    cdef int32_t between",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "lift(shrinks, without(child(gap.below, not grows_right).lower, between, row_cost))",
            "lift(shrinks, child(gap.below, not grows_right).lower)",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "lift(grows, without(child(gap.above, grows_right).lower, between, row_cost))",
            "lift(grows, child(gap.above, grows_right).lower)",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "lift(grows, child(gap.below, grows_right).lower)",
            "lift(shrinks, child(gap.below, grows_right).lower)",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "gap.first = at + 1",
            "gap.first = at + 2",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "beside.last = at - 1",
            "beside.last = at - 2",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "c.refinable = k + 1 < p.max_k and",
            "c.refinable = k + 2 < p.max_k and",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "s.floor = min_cost(s.floor, lower)\n    s.n_gaps",
            "s.n_gaps",
            LARGER + "test_the_optimum_is_found[all-3-0]",
        ),
        (
            "spare > gap.first:\n            s.floor = min_cost(s.floor, budget)",
            "spare > gap.first:\n            pass",
            LARGER + "test_the_optimum_is_found[all-3-0]",
        ),
    ],
    "_intervals.pyx": [
        (
            "if base + interval.grown + interval.shrunk >= cutoff",
            "if base + interval.grown + interval.shrunk >= cutoff - 1",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "(interval.below_cost - cutoff) // row_cost + 1",
            "(interval.below_cost - cutoff) // row_cost + 2",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "(interval.above_cost - cutoff) // row_cost - 1",
            "(interval.above_cost - cutoff) // row_cost - 2",
            LARGER + "test_thresholds_of_many_values[quantile-3]",
        ),
        (
            "cdef cost_t row_cost = p.heaviest * p.weight_cost",
            "cdef cost_t row_cost = p.weight_cost",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "piece.last = sweep.shapes[j].at[k] - 1",
            "piece.last = sweep.shapes[j].at[k] - 2",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "piece.first = sweep.shapes[j].at[k] + 1",
            "piece.first = sweep.shapes[j].at[k] + 2",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "sweep.right[j] if grow_right else sweep.left[j])",
            "sweep.left[j] if grow_right else sweep.right[j])",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "sweep.left[j] if grow_right else sweep.right[j])",
            "sweep.right[j] if grow_right else sweep.left[j])",
            LARGER + "test_thresholds_of_many_values[quantile-3]",
        ),
        (
            "interval.grown = deep.grown[k - 2] if k > 1 else 0",
            "interval.grown = deep.grown[k - 1]",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "sure = deep.grown[k - 1] + (deep",
            "sure = 2 * deep.grown[k - 1] + (deep",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "if missing_right and first == 1 and",
            "if False and",
            LARGER + "test_thresholds_of_many_values[quantile-3]",
        ),
        (
            "prefix.n_cuts < p.max_k - 1",
            "prefix.n_cuts < p.max_k - 2",
            LARGER + "test_the_optimum_is_found[all-3-0]",
        ),
        (
            "return sweep.left[0] if k & 1 else sweep.right[0]",
            "return sweep.right[0] if k & 1 else sweep.left[0]",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "if p.split_cost + k * p.refine_cost + sure",
            "if p.split_cost + (k + 1) * p.refine_cost + sure",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "if not prefix.missing_right and known < rows.n:",
            "if False:",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "if cost < deep.value:",
            "if cost < deep.value - 1:",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
    ],
    "_ao.pyx": [
        (
            "return min_cost(ao.least if ao.warming else ao.root.lower, ao.root.upper)",
            "return min_cost(ao.root.lower, ao.root.upper)",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "if c.dead or lower < budget or",
            "if c.dead or lower + 1 < budget or",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "out[i].proven = False",
            "pass",
            LARGER + "test_bounds_and_nodes_are_true_at_every_step[all]",
        ),
    ],
    "_graph.pxd": [
        (
            "return c.refine_lower if c.refinable and c.refine_lower < commit else commit",
            "return commit",
            LARGER + "test_two_change_points_over_every_cut[all]",
        ),
        (
            "return c.cost + c.left.lower + c.right.lower",
            "return c.cost + c.left.lower + c.right.upper",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
    ],
    "_graph.pyx": [
        (
            "if not exact:\n        return",
            "if not exact and lower == 0:\n        return",
            LARGER + "test_the_optimum_is_found[quantile-4-0]",
        ),
        (
            "out.proven = s.complete\n    out.depth",
            "out.proven = True\n    out.depth",
            ANYTIME + "test_what_nodes_claim_is_true[adaptive]",
        ),
        (
            "out.lower = s.lower\n    out.proven = s.complete\n    out.depth",
            "out.lower = s.upper\n    out.proven = s.complete\n    out.depth",
            ANYTIME + "test_what_nodes_claim_is_true[adaptive]",
        ),
    ],
    "_checkpoint.pyx": [
        (
            "ao.least if ao.warming else ao.root.lower",
            "ao.root.lower",
            LARGER + "test_a_checkpoint_of_the_warm_up_proves_nothing[quantile]",
        ),
        (
            "p.max_depth if not ao.warming else 0",
            "p.max_depth",
            LARGER + "test_a_checkpoint_of_the_warm_up_proves_nothing[quantile]",
        ),
        (
            "write_value(w, s.hash, s.depth, s.lower, False",
            "write_value(w, s.hash, s.depth, s.upper, False",
            LARGER + "test_a_checkpoint_of_the_warm_up_proves_nothing[quantile]",
        ),
        (
            'ao.known_lower, ao.known_upper = head["lower"], head["upper"]',
            'ao.known_lower, ao.known_upper = head["upper"], head["upper"]',
            LARGER + "test_a_checkpoint_of_the_warm_up_proves_nothing[quantile]",
        ),
        (
            'if ao.warming and not head["warming"]:',
            "if False:",
            LARGER + "test_resumes_at_random_moments_end_at_the_optimum[quantile]",
        ),
        (
            "entry.lower, entry.exact, entry.tree,\n",
            "entry.lower, True, entry.tree,\n",
            LARGER + "test_resumes_at_random_moments_end_at_the_optimum[adaptive]",
        ),
        (
            "if size > w.room:\n        return",
            "pass",
            LARGER + "test_resumes_at_random_moments_end_at_the_optimum[adaptive]",
        ),
    ],
    "_bottom.pyx": [
        (
            "found = p.split_cost + k * p.refine_cost",
            "found = p.split_cost + (k + 1) * p.refine_cost",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
        (
            "p.split_cost + (total - both) * p.weight_cost >= cost",
            "p.split_cost + p.refine_cost + (total - both) * p.weight_cost >= cost",
            LARGER + "test_the_optimum_is_found[adaptive-4-0]",
        ),
        (
            "(walk.k > 1 or not walk.missing_right)",
            "True",
            LARGER + "test_a_column_that_has_a_value_or_none[adaptive]",
        ),
        (
            "left_sum = best[turn][k].sum + (walk if k & 1 else 0)",
            "left_sum = best[turn][k].sum",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
        (
            "if entries[i] & LEGAL_CUT or i == known - 1:",
            "if True:",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
        (
            "walk.k < max_k and walk",
            "walk.k < max_k - 1 and walk",
            LARGER + "test_a_column_that_has_a_value_or_none[adaptive]",
        ),
    ],
    "_class_order.pyx": [
        (
            "out[n] = row\n        last = value",
            "out[n] = row\n        last = value + 1",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
        (
            "if value != NO_VALUE and entries[i] & LEGAL_CUT:",
            "if value != NO_VALUE:",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
        (
            "if at_b < end_b:",
            "if False:",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
    ],
    "_sweep.pyx": [
        (
            "= excess // p.weight_cost if",
            "= excess // p.weight_cost + 1 if",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
    ],
}

EXPLAINED: Changes = {
    "_checkpoint.pyx": [
        (
            'if ao.warming and not head["warming"]:',
            "if ao.warming:",
            "a resumed search without a warm-up finds its trees later and proves the same",
        ),
    ],
    "_graph.pyx": [
        (
            "if entry.depth == depth and entry.hash[0]",
            "if entry.hash[0]",
            "the place of an entry depends on its depth, so entries of another depth are never looked at",
        ),
        ("and entry.hash[1] == hash[1]", "", "two sets of rows share 64 bits of hash once in a lifetime"),
        (
            "if lower > entry.lower:",
            "if lower < entry.lower:",
            "a weaker bound is still true and only costs time",
        ),
    ],
}
