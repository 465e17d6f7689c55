"""Changes to the search over every cut: gaps between tried positions, intervals at depth left 2."""

from __future__ import annotations

from tests.mutants.engine import KEPT, LARGER, Changes

MUTANTS: Changes = {
    "_gaps.pyx": [
        (
            "    s.floor = min(s.floor, lower)\n    add_explored(",
            "    add_explored(",
            KEPT + "test_no_bound_is_higher_than_the_optimum_of_its_rows[all-4]",
        ),
        (
            "    if k + 1 < data.max_k:\n        return\n",
            "",
            KEPT + "test_no_bound_is_higher_than_the_optimum_of_its_rows[all-4]",
        ),
        (
            "if k + 1 < data.max_k:\n        lower",
            "if False:\n        lower",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "grown = child_bound(data, gap.below, grows_right)",
            "grown = child_bound(data, gap.below, not grows_right)",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "kept = child_bound(data, gap.prefix, not grows_right)",
            "kept = child_bound(data, gap.prefix, grows_right)",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "child_bound(data, gap.above, not grows_right))\n    lower",
            "child_bound(data, gap.above, grows_right))\n    lower",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "(k + 1) * data.changepoint_cost + grown",
            "(k + 2) * data.changepoint_cost + grown",
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
            "c.shape.at[c.shape.n_cuts - 1] + min_rows",
            "c.shape.at[c.shape.n_cuts - 1] + min_rows + 1",
            LARGER + "test_the_optimum_is_found[quantile-4-0]",
        ),
        (
            "(commit_bound(data, gap.below) - budget) // row_cost + 1",
            "(commit_bound(data, gap.below) - budget) // row_cost + 2",
            LARGER + "test_thresholds_of_many_values[quantile-3]",
        ),
        (
            "(commit_bound(data, gap.above) - budget) // row_cost - 1",
            "(commit_bound(data, gap.above) - budget) // row_cost - 2",
            LARGER + "test_thresholds_of_many_values[quantile-3]",
        ),
        (
            "cost_t row_cost = data.max_weight * data.weight_cost\n    cdef int32_t k",
            "cost_t row_cost = data.weight_cost\n    cdef int32_t k",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "cost_t row_cost = data.max_weight * data.weight_cost\n    cdef int32_t between",
            "cost_t row_cost = data.weight_cost\n    cdef int32_t between",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "bound_without(child_bound(data, gap.below, not grows_right), between, row_cost)",
            "child_bound(data, gap.below, not grows_right)",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "raise_bound(grows, bound_without(child_bound(data, gap.above, grows_right), between, row_cost))",
            "raise_bound(grows, child_bound(data, gap.above, grows_right))",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "raise_bound(grows, child_bound(data, gap.below, grows_right))",
            "raise_bound(shrinks, child_bound(data, gap.below, grows_right))",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "s.gaps[index].first = at + 1",
            "s.gaps[index].first = at + 2",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "beside.last = at - 1",
            "beside.last = at - 2",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "c.refinable = shape.n_cuts < data.max_k and",
            "c.refinable = shape.n_cuts + 1 < data.max_k and",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
    ],
    "_depth2_every_cut.pyx": [
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
            "cdef cost_t row_cost = data.max_weight * data.weight_cost",
            "cdef cost_t row_cost = data.weight_cost",
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
            "max(source.grown, sweep.cost[2 * j + grows])",
            "max(source.grown, sweep.cost[2 * j + 1 - grows])",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "max(source.shrunk, sweep.cost[2 * j + 1 - grows])",
            "max(source.shrunk, sweep.cost[2 * j + grows])",
            LARGER + "test_thresholds_of_many_values[quantile-3]",
        ),
        (
            "interval.grown = solve.grown[k - 2] if k > 1 else 0",
            "interval.grown = solve.grown[k - 1]",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "fixed = solve.grown[k - 1] + (solve",
            "fixed = 2 * solve.grown[k - 1] + (solve",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "if missing_right and first == 1 and",
            "if False and",
            LARGER + "test_thresholds_of_many_values[quantile-3]",
        ),
        (
            "prefix.n_cuts < data.max_k - 1",
            "prefix.n_cuts < data.max_k - 2",
            LARGER + "test_the_optimum_is_found[all-3-0]",
        ),
        (
            "solve.grown[k - 1] = sweep.cost[(k - 1) & 1]",
            "solve.grown[k - 1] = sweep.cost[k & 1]",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "return data.split_cost + k * data.changepoint_cost + fixed",
            "return data.split_cost + (k + 1) * data.changepoint_cost + fixed",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "if not prefix.missing_right and solve.rows.known[prefix.feature] < solve.rows.n:",
            "if False:",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
        (
            "if cost < solve.value and data.min_rows == 1:",
            "if cost < solve.value - 1 and data.min_rows == 1:",
            LARGER + "test_two_change_points_over_every_cut[quantile]",
        ),
    ],
}
