"""Changes to the polish of a tree, and to the closed form that it shares with depth 1."""

from __future__ import annotations

from tests.mutants.engine import Changes

POLISH = "tests/core/search/test_polish.py::"
SINGLE_NODES = POLISH + "test_single_nodes_are_optimal_and_nothing_got_worse[0]"
FEWER_CHANGEPOINTS = POLISH + "test_a_shape_of_the_same_cost_with_fewer_change_points_is_taken"

MUTANTS: Changes = {
    "_polish.pyx": [
        (
            "penalties = self.data.split_cost + self.penalties(node.left)",
            "penalties = self.penalties(node.left)",
            SINGLE_NODES,
        ),
        (
            "if left != right:",
            "if left != right and left:",
            SINGLE_NODES,
        ),
        (
            "fit.unavoidable += weight",
            "fit.unavoidable += 0",
            SINGLE_NODES,
        ),
        (
            "lowest = penalties + unavoidable * self.data.weight_cost",
            "lowest = penalties",
            SINGLE_NODES,
        ),
        (
            " or (lowest == fit.best_cost and fit.best.n_cuts > 1)",
            "",
            FEWER_CHANGEPOINTS,
        ),
        (
            "max(1, self.nodes[fit.node].shape.n_cuts)",
            "1",
            FEWER_CHANGEPOINTS,
        ),
        (
            "change = TO_LEAF",
            "change = KEEP",
            POLISH + "test_a_node_becomes_a_leaf_with_a_label_that_no_child_has",
        ),
        (
            "fit.unavoidable + fit.target[1], &cost",
            "fit.unavoidable + fit.target[0], &cost",
            SINGLE_NODES,
        ),
        (
            "if data.grid != NULL and i + 1 < known and",
            "if False and",
            POLISH + "test_cuts_need_not_lie_on_the_grid",
        ),
    ],
    "_best_shape.pxd": [
        (
            "(k - 1) * data.changepoint_cost",
            "k * data.changepoint_cost",
            SINGLE_NODES,
        ),
        (
            "if scan.group * scan.direction < 0:",
            "if scan.group * scan.direction > 0:",
            SINGLE_NODES,
        ),
        (
            "(scan.prefix if (k + first) & 1 else 0)",
            "scan.prefix",
            SINGLE_NODES,
        ),
        (
            "max(scan.missing, 0)",
            "max(-scan.missing, 0)",
            SINGLE_NODES,
        ),
        (
            "if cost > best[0] or (cost == best[0] and size >= best_size[0]):",
            "if cost >= best[0]:",
            FEWER_CHANGEPOINTS,
        ),
        (
            "size >= best_size[0]):",
            "size > best_size[0]):",
            POLISH + "test_polish_is_deterministic_and_settled",
        ),
    ],
}
