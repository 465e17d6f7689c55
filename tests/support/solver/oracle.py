"""The naive solver: the definition of the optimum, written for reading and not for speed.

It shares no code with the solver and uses no NumPy. Rows are the bits of an int. The only thing it keeps is
the value of a (rows, depth left) pair that it has already worked out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, pairwise
from math import log2

from tests.support.solver.problems import Problem

Cuts = list[set[int]]  # per feature: the positions where a change point may lie
CandidateFunction = Callable[["Rows", int, int], Cuts]


def row_set(members: Iterable[bool]) -> int:
    """The rows whose entry is true, as bits. By way of text: adding bit by bit is quadratic."""
    return int("".join("1" if member else "0" for member in members)[::-1] or "0", 2)


class Rows:
    """Lookups of a problem by bit set: who passes a position, who is missing, who is of a class."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.everyone = (1 << problem.n_rows) - 1
        weights = problem.weights or [1.0] * problem.n_rows
        self.unit = 1  # the smallest power of two that makes every weight an integer
        while any(weight * self.unit % 1 for weight in weights):
            self.unit *= 2
        self.of_weight = [
            {
                int(weight * self.unit): row_set(
                    (k, w) == (label, weight) for k, w in zip(problem.y, weights, strict=True)
                )
                for weight in set(weights)
            }
            for label in range(problem.n_classes)
        ]
        self.features = range(len(problem.codes))
        self.missing = [row_set(x < 0 for x in column) for column in problem.codes]
        self.having = [
            [row_set(x == code for x in column) for code in range(problem.cardinality(j))]
            for j, column in enumerate(problem.codes)
        ]
        self.passing = [[sum(masks[c:]) for c in range(len(masks) + 1)] for masks in self.having]

    def counts(self, rows: int) -> list[int]:
        """Class weights of the rows, in integer units."""
        return [sum(w * (rows & mask).bit_count() for w, mask in units.items()) for units in self.of_weight]

    def leaf_error(self, rows: int) -> float:
        counts = self.counts(rows)
        return (sum(counts) - max(counts)) / self.unit

    def present(self, rows: int, feature: int) -> list[int]:
        return [code for code, mask in enumerate(self.having[feature]) if rows & mask]


def every_cut(data: Rows, rows: int) -> Cuts:
    """Between every two neighbouring codes present; above them all too where a value is missing."""
    cuts = [set(data.present(rows, j)[1:]) for j in data.features]
    for j in data.features:
        if rows & data.missing[j]:
            cuts[j].add(data.problem.cardinality(j))
    return cuts


def grid_cuts(data: Rows, rows: int) -> Cuts:
    assert data.problem.grid is not None
    cuts = [set(positions) for positions in data.problem.grid]
    for j in data.features:
        if rows & data.missing[j]:
            cuts[j].add(data.problem.cardinality(j))
    return cuts


def purity(counts: list[int], criterion: str) -> float:
    """What a split maximises the sum of, over its sides."""
    total = sum(counts)
    if criterion == "gini":
        return sum(c * c for c in counts) / total
    return sum((c * log2(c) for c in counts if c), 0.0) - total * log2(total)


def cut_score(a: list[int], b: list[int], criterion: str) -> float:
    if criterion == "gini":  # both fractions over one denominator: a single rounding
        square_a, square_b = sum(c * c for c in a), sum(c * c for c in b)
        return (square_a * sum(b) + square_b * sum(a)) / (sum(a) * sum(b))
    return purity(a, criterion) + purity(b, criterion)


def tried_cuts(data: Rows, rows: int, feature: int) -> Iterator[tuple[int, int, int]]:
    """(position, rows below, rows above) in the order CART tries them.

    Both sides have enough rows with a value; behind all values there are only rows without one.
    """
    present, missing = data.present(rows, feature), rows & data.missing[feature]
    least = data.problem.min_samples_leaf
    values, cardinality = data.problem.values[feature], data.problem.cardinality(feature)
    for below, above in pairwise(present):
        middle = 0.5 * values[below] + 0.5 * values[above]
        position = next((c for c in range(cardinality) if values[c] > middle), cardinality)
        position = min(max(position, below + 1), above)
        right = rows & data.passing[feature][position]
        left = rows & ~right & ~missing
        if min(left.bit_count(), right.bit_count()) < least:
            continue
        yield position, left, right | missing
        if missing:
            yield position, left | missing, right
    if min((rows & ~missing).bit_count(), missing.bit_count()) >= least:
        yield cardinality, rows & ~missing, missing


def cart(data: Rows, rows: int, features: list[int], max_leaves: int) -> Iterator[tuple[int, int, int, int]]:
    """The splits of a best-first CART in the order they are made: feature, position, rows below, above."""
    criterion = data.problem.criterion
    leaves: list[tuple[float, int, int, int, int]] = []  # gain, then the split

    def add(node: int) -> None:
        counts = data.counts(node)
        best: tuple[float, int, int, int, int] | None = None
        for j in features:
            for position, below, above in tried_cuts(data, node, j):
                score = cut_score(data.counts(below), data.counts(above), criterion)
                if best is None or score > best[0]:
                    best = (score, j, position, below, above)
        if best is not None and sum(c > 0 for c in counts) > 1:
            leaves.append((best[0] - purity(counts, criterion), *best[1:]))

    add(rows)
    for _ in range(max_leaves - 1):
        if not leaves:
            return
        chosen = max(leaves, key=lambda leaf: leaf[0])  # the first of equals: the leaf made earlier
        leaves.remove(chosen)
        yield chosen[1:]
        add(chosen[3])
        add(chosen[4])


def candidates(data: Rows, rows: int, depth_left: int) -> Cuts:
    """Where change points may lie in a state, by the problem's mode."""
    problem, features = data.problem, list(data.features)
    if problem.candidates == "quantile":
        return grid_cuts(data, rows)
    if problem.candidates == "all" or depth_left == 1:
        return every_cut(data, rows)
    level = min(problem.max_depth - depth_left, len(problem.candidate_leaves) - 1)
    cuts: Cuts = [set() for _ in features]
    trees = [cart(data, rows, features, problem.candidate_leaves[level])]
    if problem.candidates == "shape":
        trees += [cart(data, rows, [j], problem.max_changepoints + 1) for j in features]
    for tree in trees:
        for feature, position, _, _ in tree:
            cuts[feature].add(position)
    return cuts


def long_enough(data: Rows, rows: int, feature: int, chosen: tuple[int, ...]) -> bool:
    """Whether every interval between these change points has `min_samples_leaf` rows with a value.

    Where every value lies before the only change point, the rows without a value stand for the interval
    behind it.
    """
    known, missing = rows & ~data.missing[feature], rows & data.missing[feature]
    behind = [known, *(known & data.passing[feature][position] for position in chosen), 0]
    intervals = [before & ~after for before, after in pairwise(behind)]
    if len(chosen) == 1 and not intervals[1]:
        intervals[1] = missing
    return all(interval.bit_count() >= data.problem.min_samples_leaf for interval in intervals)


def splits(data: Rows, rows: int, cuts: Cuts) -> dict[int, float]:
    """Every way to part the rows: the rows that go right, and the least penalty of doing so."""
    problem, found = data.problem, dict[int, float]()
    for size in range(1, problem.max_changepoints + 1):
        penalty = problem.split_penalty + problem.changepoint_penalty * (size - 1)
        for j in data.features:
            for chosen in combinations(sorted(cuts[j]), size):
                if problem.min_samples_leaf > 1 and not long_enough(data, rows, j, chosen):
                    continue
                right = 0
                for position in chosen:
                    right ^= rows & data.passing[j][position]  # an odd number of passed change points
                for side in {right, right | rows & data.missing[j]}:
                    if side not in (0, rows):
                        found[side] = min(penalty, found.get(side, penalty))
    return found


def state_values(problem: Problem, candidates: CandidateFunction = candidates) -> Callable[[int, int], float]:
    """The function from (rows, depth left) to the least cost of any tree that `candidates` allow."""
    data = Rows(problem)
    known: dict[tuple[int, int], float] = {}

    def value(rows: int, depth_left: int) -> float:
        best = data.leaf_error(rows)
        if best == 0 or depth_left == 0:
            return best
        if (rows, depth_left) not in known:
            for right, penalty in splits(data, rows, candidates(data, rows, depth_left)).items():
                if penalty < best:
                    below = value(rows & ~right, depth_left - 1) + value(right, depth_left - 1)
                    best = min(best, penalty + below)
            known[rows, depth_left] = best
        return known[rows, depth_left]

    return value


def optimum(problem: Problem, candidates: CandidateFunction = candidates) -> float:
    """The least objective of any tree in the space that `candidates` spans."""
    everyone = (1 << problem.n_rows) - 1
    return state_values(problem, candidates)(everyone, problem.max_depth)
