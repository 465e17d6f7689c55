"""The parts of a tree: splits, nodes, and what was proven about the whole."""

from __future__ import annotations

from dataclasses import dataclass, field

SPACES = {
    "adaptive": "the adaptive candidates (thresholds of a CART of at most {leaves} leaves on each state)",
    "shape": "the adaptive candidates ({leaves} leaves) with each feature's own best thresholds",
    "quantile": "a grid of at most {leaves} quantiles a feature",
    "all": "every threshold of every feature",
}
# The one explanation of `beyond_space`: every place that shows bounds beside a cost uses this sentence.
BEYOND_SPACE = (
    "This tree was improved beyond the searched space, so it costs less than the upper bound; "
    "both bounds are only about trees of that space."
)


@dataclass(frozen=True, slots=True)
class Split:
    """A shape function: which side each value of one column goes to.

    Numbers and booleans: a value has passed the thresholds below it; an even number sends it left, an odd one
    right. No threshold at all sends every known value left, so that only missing ones go right. Categories:
    those listed go right, the other known ones left.
    """

    column: int  # index into the schema's columns
    thresholds: tuple[float, ...]  # rising; empty for categories
    right_categories: tuple[int, ...]  # rising indices into the column's categories
    changepoints: int  # what the objective charges for: at least 1
    missing_right: bool
    missing_seen: (
        bool  # training rows with a missing value reached this node, so the side was chosen for them
    )
    unknown_right: bool  # the side that most training rows took: categories not seen in training go there
    left: int  # index of the child node
    right: int

    def intervals(self) -> list[tuple[float | None, float | None, bool]]:
        """(above, up to, goes right) for each piece of the range; None is no limit."""
        edges = [None, *self.thresholds, None]
        return [(edges[i], edges[i + 1], i % 2 == 1) for i in range(len(edges) - 1)]


@dataclass(frozen=True, slots=True)
class Node:
    """One node with what its training rows say."""

    rows: int  # training rows that reach it
    counts: tuple[float, ...]  # their weight by class
    label: int  # index of the heaviest class; the lowest of equals
    error: float  # weight misclassified if this were a leaf
    cost: float  # of the subtree: weight misclassified by its leaves, and its penalties
    bound: float  # no subtree of the searched space costs less on these rows
    proven: bool  # the search proved that no subtree of the space costs less than this one
    split: Split | None = None  # None: a leaf

    @property
    def weight(self) -> float:
        return sum(self.counts)

    @property
    def share(self) -> float:
        """Part of the training weight here that has the label."""
        return self.counts[self.label] / self.weight


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of the problem that the tree answers."""

    max_depth: int
    max_changepoints: int
    split_penalty: float
    changepoint_penalty: float

    def penalty(self, changepoints: int) -> float:
        return self.split_penalty + self.changepoint_penalty * (changepoints - 1)


@dataclass(frozen=True, slots=True)
class Proof:
    """What the search knows. The objective is this tree's; the bounds speak of the search's space."""

    objective: float
    upper_bound: float
    lower_bound: float
    proven_optimal: bool
    proven_space: str  # a key of SPACES: the space that the bounds and the proof are about
    candidate_leaves: tuple[int, ...] = field(default=())

    @property
    def beyond_space(self) -> bool:
        """Whether the tree costs less than the upper bound; see `BEYOND_SPACE`."""
        return is_beyond_space(self.objective, self.upper_bound)

    def statement(self) -> str:
        """Say what is proven, and explain a tree that is beyond the space."""
        leaves = ", ".join(str(n) for n in self.candidate_leaves) or "?"
        space = SPACES[self.proven_space].format(leaves=leaves)
        if not self.proven_optimal:
            known = (
                f"Not proven optimal: this tree costs {self.objective:g}; the best over {space} "
                f"costs between {self.lower_bound:g} and {self.upper_bound:g}."
            )
        elif self.beyond_space:
            known = (
                f"Proven: no tree over {space} costs less than {self.upper_bound:g}; "
                f"this tree costs {self.objective:g}."
            )
        else:
            known = f"Proven optimal: no tree over {space} costs less than {self.objective:g}."
        return f"{known} {BEYOND_SPACE}" if self.beyond_space else known


def is_beyond_space(objective: float, upper_bound: float) -> bool:
    """Whether a tree costs less than the best that the search knows of in its own space."""
    return objective < upper_bound


def depths(nodes: tuple[Node, ...]) -> list[int]:
    """Depth of each node; the root's is 0. Parents stand before their children."""
    depth = [0] * len(nodes)
    for index, node in enumerate(nodes):
        if node.split is not None:
            depth[node.split.left] = depth[node.split.right] = depth[index] + 1
    return depth
