"""Trees as the engine hands them out, read by code that shares nothing with the search.

Every function takes the encoded problem and the structured array of nodes (preorder, root first).
"""

from __future__ import annotations

from typing import Any

from tests.support.solver import oracle
from tests.support.solver.problems import Problem

Nodes = Any  # a NumPy structured array; its fields are read one by one


def sides(problem: Problem, node: Any, rows: list[int]) -> list[bool]:
    """For each of the rows whether the node sends it right."""
    codes, missing = problem.codes[int(node["feature"])], bool(node["missing_right"])
    positions = [int(c) for c in node["changepoints"][: int(node["n_changepoints"])]]
    return [missing if codes[row] < 0 else sum(c <= codes[row] for c in positions) % 2 == 1 for row in rows]


def goes_right(problem: Problem, node: Any, row: int) -> bool:
    return sides(problem, node, [row])[0]


def rows_by_node(problem: Problem, nodes: Nodes) -> list[list[int]]:
    """For every node the rows that reach it."""
    reached: list[list[int]] = [[] for _ in nodes]
    stack = [(0, list(range(problem.n_rows)))]
    while stack:
        at, rows = stack.pop()
        reached[at] = rows
        if int(nodes[at]["feature"]) >= 0:
            right = sides(problem, nodes[at], rows)
            for child, side in ((nodes[at]["left"], False), (nodes[at]["right"], True)):
                stack.append((int(child), [row for row, r in zip(rows, right, strict=True) if r == side]))
    return reached


def class_weights(problem: Problem, rows: list[int]) -> list[float]:
    totals = [0.0] * problem.n_classes
    for row in rows:
        totals[problem.y[row]] += 1.0 if problem.weights is None else problem.weights[row]
    return totals


def leaf_error(problem: Problem, rows: list[int]) -> float:
    totals = class_weights(problem, rows)
    return sum(totals) - max(totals)


def penalty(problem: Problem, node: Any) -> float:
    return problem.split_penalty + problem.changepoint_penalty * (int(node["n_changepoints"]) - 1)


def objective(problem: Problem, nodes: Nodes) -> float:
    """Errors of the leaves under their majority labels, and the penalties."""
    reached = rows_by_node(problem, nodes)
    return sum(
        leaf_error(problem, rows) if int(node["feature"]) < 0 else penalty(problem, node)
        for node, rows in zip(nodes, reached, strict=True)
    )


def subtree_objective(problem: Problem, nodes: Nodes, root: int) -> float:
    reached, stack, total = rows_by_node(problem, nodes), [root], 0.0
    while stack:
        at = stack.pop()
        if int(nodes[at]["feature"]) < 0:
            total += leaf_error(problem, reached[at])
        else:
            total += penalty(problem, nodes[at])
            stack += [int(nodes[at]["left"]), int(nodes[at]["right"])]
    return total


def depths(nodes: Nodes) -> list[int]:
    """Depth of every node; fails unless the array is one tree in preorder that uses every entry."""
    found = [-1] * len(nodes)
    visited: list[int] = []
    stack = [(0, 0)]
    while stack:
        at, depth = stack.pop()
        assert 0 <= at < len(nodes)
        assert found[at] < 0, "a node is reached twice"
        found[at] = depth
        visited.append(at)
        if int(nodes[at]["feature"]) >= 0:
            stack += [(int(nodes[at]["right"]), depth + 1), (int(nodes[at]["left"]), depth + 1)]
    assert visited == list(range(len(nodes)))
    return found


def check_intervals(problem: Problem, nodes: Nodes) -> None:
    """Every interval of every node has `min_samples_leaf` of the rows that reach the node and have a value.

    Behind a cut above all values there are only rows without one. So many rows reach every leaf, too.
    """
    reached = rows_by_node(problem, nodes)
    for at, (node, rows) in enumerate(zip(nodes, reached, strict=True)):
        assert at == 0 or len(rows) >= problem.min_samples_leaf, f"{len(rows)} rows reach node {at}"
        feature = int(node["feature"])
        if feature < 0:
            continue
        positions = [int(c) for c in node["changepoints"][: int(node["n_changepoints"])]]
        codes = [problem.codes[feature][row] for row in rows]
        passed = [sum(c <= code for c in positions) for code in codes if code >= 0]
        intervals = [passed.count(k) for k in range(len(positions) + 1)]
        if positions == [problem.cardinality(feature)]:
            intervals[1] = codes.count(-1)
        assert min(intervals) >= problem.min_samples_leaf, f"node {at} has intervals of {intervals} rows"


def check_shape(problem: Problem, nodes: Nodes) -> None:
    """The array is a tree within depth and K, its functions are well formed and part the rows they see."""
    if problem.min_samples_leaf > 1:
        check_intervals(problem, nodes)
    reached = rows_by_node(problem, nodes)
    for at, (node, depth) in enumerate(zip(nodes, depths(nodes), strict=True)):
        assert reached[at], f"no row reaches node {at}"
        feature = int(node["feature"])
        if feature < 0:
            continue
        assert feature < len(problem.codes)
        assert depth < problem.max_depth
        count = int(node["n_changepoints"])
        positions = [int(c) for c in node["changepoints"][:count]]
        assert 1 <= count <= problem.max_changepoints
        assert positions == sorted(set(positions))
        assert positions[0] >= 1
        assert positions[-1] <= problem.cardinality(feature)
        if positions[-1] == problem.cardinality(feature):
            assert any(problem.codes[feature][row] < 0 for row in reached[at]), (
                "a top cut without missing rows"
            )


def check_legal(problem: Problem, nodes: Nodes) -> None:
    """`check_shape`, and every change point is a candidate of its node's state.

    Positions with no row of the node between them are the same change point.
    """
    check_shape(problem, nodes)
    data = oracle.Rows(problem)
    for node, depth, rows in zip(nodes, depths(nodes), rows_by_node(problem, nodes), strict=True):
        feature = int(node["feature"])
        if feature < 0:
            continue
        members = set(rows)
        state = oracle.row_set(row in members for row in range(problem.n_rows))
        allowed = oracle.candidates(data, state, problem.max_depth - depth)[feature]
        present = [*data.present(state, feature), problem.cardinality(feature)]
        positions = {int(c) for c in node["changepoints"][: int(node["n_changepoints"])]}
        used, legal = (
            {min(code for code in present if code >= c) for c in some} for some in (positions, allowed)
        )
        assert used <= legal, f"change points {positions} at depth {depth}, candidates {allowed}"
        assert len(used) == len(positions), f"change points {positions} are not all needed"
