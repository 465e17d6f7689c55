"""Changes to the search: bounds, prunes, sweeps, candidates, cache and checkpoints.

An entry is (original text, replacement, the test that fails with it).
"""

from __future__ import annotations

Changes = dict[str, list[tuple[str, str, str]]]

LARGER = "tests/core/search/test_larger_problems.py::"
FIRST = "tests/core/search/test_first_bounds.py::"
KEPT = "tests/core/search/test_kept_bounds.py::"
EXPLORED = "tests/core/search/test_explored.py::"
ANYTIME = "tests/core/search/test_anytime.py::"

MUTANTS: Changes = {
    "_bounds.pyx": [
        (
            "(leaves - 1) * data.split_cost + outside",
            "leaves * data.split_cost + outside",
            FIRST + "test_the_first_lower_bound_is_that_of_the_classes[all]",
        ),
        (
            "(leaves - 1) * data.split_cost + rows.unavoidable_error",
            "leaves * data.split_cost + rows.unavoidable_error",
            FIRST + "test_the_first_lower_bound_is_that_of_the_classes[adaptive]",
        ),
        (
            "max_leaves = 1 << depth",
            "max_leaves = depth + 1",
            FIRST + "test_many_classes_on_few_leaves_are_bounded_at_once",
        ),
        (
            "if outside <= rows.unavoidable_error:",
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
    "_ao.pyx": [
        (
            "state_free(control, &ao.root)\n    cache_clear(control, &ao.cache)",
            "state_free(control, &ao.root)",
            LARGER + "test_two_change_points_over_every_cut[all]",
        ),
        (
            "ao.root.lower = ao.initial_lower\n",
            "pass\n",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "max(ao.root.lower, min(ao.saved_lower, ao.root.upper))",
            "max(ao.root.lower, ao.root.upper)",
            LARGER + "test_resumes_at_random_moments_end_at_the_optimum[adaptive]",
        ),
        (
            "return min(ao.initial_lower if ao.in_warm_up else ao.root.lower, ao.root.upper)",
            "return min(ao.root.lower, ao.root.upper)",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "out[i].proven = False",
            "pass",
            LARGER + "test_bounds_and_nodes_are_true_at_every_step[all]",
        ),
    ],
    "_select.pyx": [
        (
            "c.left.lower if child == &c.right else c.right.lower",
            "c.left.upper if child == &c.right else c.right.upper",
            LARGER + "test_two_change_points_over_every_cut[all]",
        ),
    ],
    "_values.pyx": [
        (
            "        s.floor = min(s.floor, lower)\n        explore_choice(c)",
            "        explore_choice(c)",
            KEPT + "test_no_bound_is_higher_than_the_optimum_of_its_rows[all-4]",
        ),
        (
            "    lower = min(s.floor, s.upper)",
            "    lower = s.upper",
            KEPT + "test_no_bound_is_higher_than_the_optimum_of_its_rows[all-4]",
        ),
        (
            "for i in range(s.n_gaps):\n        lower",
            "for i in range(0):\n        lower",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "if lower >= budget:\n            remove_gap",
            "if lower + 1 >= budget:\n            remove_gap",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "if c.pruned or lower < budget or",
            "if c.pruned or lower + 1 < budget or",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
    ],
    "_explored.pxd": [
        (
            "child.explored = child.share",
            "pass",
            EXPLORED + "test_no_part_is_counted_twice[adaptive]",
        ),
    ],
    "_graph.pxd": [
        (
            "return c.refine_lower if c.refinable and c.refine_lower < commit else commit",
            "return commit",
            LARGER + "test_choices_that_are_refined[adaptive]",
        ),
        (
            "return c.cost + c.left.lower + c.right.lower",
            "return c.cost + c.left.lower + c.right.upper",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
    ],
    "_graph.pyx": [
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
            "ao.initial_lower if ao.in_warm_up else ao.root.lower",
            "ao.root.lower",
            LARGER + "test_a_checkpoint_of_the_warm_up_proves_nothing[quantile]",
        ),
        (
            "write_value(w, s.hash, s.depth, s.lower, False",
            "write_value(w, s.hash, s.depth, s.upper, False",
            LARGER + "test_a_checkpoint_of_the_warm_up_proves_nothing[quantile]",
        ),
        (
            'ao.saved_lower, ao.saved_upper = head["lower"], head["upper"]',
            'ao.saved_lower, ao.saved_upper = head["upper"], head["upper"]',
            LARGER + "test_a_checkpoint_of_the_warm_up_proves_nothing[quantile]",
        ),
        (
            'if ao.in_warm_up and not head["warming"]:',
            "if False:",
            LARGER + "test_resumes_at_random_moments_end_at_the_optimum[quantile]",
        ),
        (
            "entry.lower, entry.exact, entry.tree,\n",
            "entry.lower, True, entry.tree,\n",
            LARGER + "test_resumes_at_random_moments_end_at_the_optimum[adaptive]",
        ),
        (
            "if size > w.bytes_left:\n        return",
            "pass",
            LARGER + "test_resumes_at_random_moments_end_at_the_optimum[adaptive]",
        ),
    ],
    "_depth1.pyx": [
        (
            "data.split_cost + counts[1] * data.weight_cost, &cost",
            "counts[1] * data.weight_cost, &cost",
            "tests/core/search/test_oracle.py::test_random_problems[all-1-0]",
        ),
        (
            "data.split_cost + (total - both) * data.weight_cost >= cost",
            "data.split_cost + data.changepoint_cost + (total - both) * data.weight_cost >= cost",
            LARGER + "test_the_optimum_is_found[adaptive-4-0]",
        ),
        (
            "data.split_cost + (total - counts[a]) * data.weight_cost, &cost",
            "data.split_cost + (total - counts[b]) * data.weight_cost, &cost",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
        (
            "if entries[i] & LEGAL_CUT and scan.group != 0:",
            "if scan.group != 0:",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
    ],
    "_depth2.pyx": [
        (
            "(iterator.k > 1 or not iterator.missing_right)",
            "True",
            LARGER + "test_a_column_that_has_a_value_or_none[adaptive]",
        ),
        (
            "iterator.k < max_k and iterator",
            "iterator.k < max_k - 1 and iterator",
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
    "_depth2_sweep.pyx": [
        (
            "= excess // data.weight_cost if",
            "= excess // data.weight_cost + 1 if",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
    ],
    "_rows.pyx": [
        (
            "flags = (entry ^ row) | (flags & ~take)",
            "flags = entry ^ row",
            LARGER + "test_the_optimum_is_found[all-3-0]",
        ),
        (
            "side[entries[i] & ROW_MASK] = shape.missing_right",
            "side[entries[i] & ROW_MASK] = 0",
            LARGER + "test_a_column_that_has_a_value_or_none[all]",
        ),
    ],
    "_cart.pyx": [
        (
            "leaves = data.max_k + 1\n",
            "leaves = data.max_k\n",
            LARGER + "test_the_optimum_is_found[shape-3-0]",
        ),
        (
            "while grown < leaves:\n        best = best_leaf(data, control, cart, rows)",
            "while grown <= leaves:\n        best = best_leaf(data, control, cart, rows)",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
    ],
    "_scan.pyx": [
        (
            "        if i < scan.known - 1:\n            top = sl",
            "        if False:\n            top = sl",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
        (
            "least = max(highest, best.score) - 2.0",
            "least = max(highest, best.score) + 2.0",
            "tests/core/search/test_oracle.py::test_many_classes_and_missing_values[entropy]",
        ),
    ],
    "_expand.pyx": [
        (
            "sums.unavoidable_error[k] = unavoidable_error",
            "sums.unavoidable_error[k] = unavoidable_error + data.max_weight",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
    ],
    "_solve_state.pyx": [
        (
            "s.lower = max(s.lower, budget)",
            "s.lower = s.upper",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
    ],
    "_data_state.pyx": [
        (
            "level if level < data.n_candidate_leaves else data.n_candidate_leaves - 1",
            "0",
            LARGER + "test_the_optimum_is_found[adaptive-3-0]",
        ),
        (
            "if known.exact:",
            "if True:",
            LARGER + "test_the_optimum_is_found[all-4-0]",
        ),
    ],
    "_cache.pyx": [
        (
            "if not exact:\n        return",
            "if not exact and lower == 0:\n        return",
            LARGER + "test_the_optimum_is_found[quantile-4-0]",
        ),
    ],
}

EXPLAINED: Changes = {
    "_checkpoint.pyx": [
        (
            'if ao.in_warm_up and not head["warming"]:',
            "if ao.in_warm_up:",
            "a resumed search without a warm-up finds its trees later and proves the same",
        ),
        (
            "data.max_depth if not ao.in_warm_up else 0",
            "data.max_depth",
            "a search that resumes in the warm-up forgets what it knows of states when the warm-up ends",
        ),
    ],
    "_cache.pyx": [
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
