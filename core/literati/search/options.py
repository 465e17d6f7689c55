"""The parameters of a search and its limits. This file is their only definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from literati.data import labels
from literati.data.table import Categories
from literati.search.parameters import (
    Accepted,
    ClassWeights,
    CountOrAll,
    LeafCounts,
    ParameterSet,
    Range,
    parameter,
)
from literati.search.report import SearchReport
from literati.tree.nodes import Settings

Candidates = Literal["adaptive", "shape", "quantile", "all", "widening"]
OrSelection = Literal["informative", "admissible", "mixed"]
AndSelection = Literal["round_robin", "worst_primal", "worst_heuristic"]
Heuristic = Literal["cart", "primal", "impurity"]
Criterion = Literal["gini", "entropy"]

MAX_DEPTH = 12
MAX_THREADS = 16  # the tasks of a round: more threads would find nothing to do
SEQUENTIAL: tuple[Candidates, ...] = ("quantile", "all")  # modes in which a round has one task
MAX_ROWS = (1 << 31) - 1
LEAVES = Range(int, ge=1, le=1 << 20)
LEAVES_DEFAULT = 17
_SAME_OPTIMUM = "It changes the time to the optimum, not the optimum."


@dataclass(frozen=True)
class SearchLimits(ParameterSet):
    """When a search stops by itself. Reaching a limit is a result, not an error.

    Seconds are search seconds, summed over all calls of `run` and over a resume.
    """

    time_limit: float | None = parameter(
        60.0,
        Range(float, gt=0, optional=True),
        "Seconds of search after the data is encoded. The search then stops and keeps its best tree.",
        unit="seconds",
    )
    max_expansions: int | None = parameter(
        None,
        Range(int, ge=1, optional=True),
        "Number of expansions after which the search stops. Unlike a time limit, it gives the same tree on "
        "every machine.",
        unit="expansions",
    )
    memory_limit: int | None = parameter(
        None,
        Range(int, ge=1, optional=True),
        "Bytes that the search may add to the memory of its process. The search stops when it needs more.",
        unit="bytes",
    )
    gap: float = parameter(
        0.0, Range(float, ge=0, lt=1), "The search stops when (upper - lower) / upper is at most this value."
    )
    gap_absolute: float = parameter(
        0.0,
        Range(float, ge=0),
        "The search stops when upper - lower is at most this value, in misclassified rows.",
        unit="rows",
    )
    patience: float | None = parameter(
        None,
        Range(float, gt=0, optional=True),
        "Seconds of search without a better tree after which the search stops.",
        unit="seconds",
    )


@dataclass(frozen=True)
class SolverOptions(ParameterSet):
    """What is searched and how. Names and defaults are those of LiteratiClassifier."""

    max_depth: int = parameter(4, Range(int, ge=1, le=MAX_DEPTH), "Maximum depth of the tree.")
    max_changepoints: int = parameter(
        2,
        Range(int, ge=1, le=8),
        "Maximum number of change points of a split. With 1, every split is an ordinary threshold.",
    )
    split_penalty: float = parameter(
        0.0,
        Range(float, ge=0),
        "Cost of a split, in misclassified rows. A larger penalty gives a smaller tree.",
        unit="rows",
    )
    changepoint_penalty: float = parameter(
        0.0,
        Range(float, ge=0),
        "Cost of each change point after the first one of a split, in misclassified rows. A larger penalty "
        "gives simpler splits.",
        unit="rows",
    )
    min_samples_leaf: int = parameter(
        1,
        Range(int, ge=1, le=MAX_ROWS),
        "Minimum number of training rows in each interval between the change points of a split, and so in "
        "each leaf. Rows with a missing value do not count, unless a split sends only them to one side.",
        unit="rows",
        added="0.2.0",
    )
    candidates: Candidates = parameter(
        "adaptive",
        {
            "adaptive": "thresholds of a CART tree on the node's rows, and every threshold on the last level",
            "shape": "the same, and thresholds of CART trees on each feature alone",
            "quantile": "quantiles of each feature",
            "all": "every threshold",
            "widening": "adaptive first, then shape, then all, until the time is over",
        },
        "Where change points may lie. A proof of optimality holds for the trees with these change points.",
    )
    candidate_leaves: int | Sequence[int] = parameter(
        LEAVES_DEFAULT,
        LeafCounts(LEAVES),
        "Number of leaves of the CART trees that propose change points, or number of quantiles of a feature. "
        "A list gives the number for each level from the root; its last entry holds for all deeper levels. "
        "`widening` chooses the numbers itself.",
    )
    or_selection: OrSelection = parameter(
        "mixed",
        {
            "informative": "the split with the best estimated cost",
            "admissible": "the split with the lowest bound",
            "mixed": "both in turn, and the lowest bound more often the longer no better tree is found",
        },
        f"Which split of a node the search follows. {_SAME_OPTIMUM}",
    )
    and_selection: AndSelection = parameter(
        "round_robin",
        {
            "round_robin": "both children in turn",
            "worst_primal": "the child whose best known subtree costs more",
            "worst_heuristic": "the child with the larger estimated cost",
        },
        f"Which child of a split the search follows. {_SAME_OPTIMUM}",
    )
    heuristic: Heuristic = parameter(
        "cart",
        {
            "cart": "the cost of a CART tree",
            "primal": "the cost of the best known subtree",
            "impurity": "the impurity of the rows",
        },
        f"Estimate of the cost of a subtree, which orders the search. {_SAME_OPTIMUM}",
    )
    criterion: Criterion = parameter(
        "gini",
        {"gini": "the Gini impurity", "entropy": "the entropy"},
        "Impurity that the CART trees that propose change points minimise.",
    )
    polish: bool = parameter(
        True,
        Accepted("True or False", lambda value: isinstance(value, bool)),
        "Whether to improve new best trees node by node over every threshold, beyond the candidates. "
        "Polishing never makes a tree worse.",
    )
    class_weight: str | Mapping[Any, float] | None = parameter(
        None,
        ClassWeights(),
        "Weights of the classes. `balanced` gives every class the same total weight. A mapping gives the "
        "weight of each class that it names, spelled as in the data; the other classes weigh 1.",
    )
    categories: Categories = parameter(
        "ordered",
        {
            "ordered": "change points between categories, sorted by their share of the most frequent class",
            "one_hot": "one category against all others",
        },
        "How a split divides the categories of a column.",
    )
    probability_smoothing: float = parameter(
        # Chosen by the log loss on held-out rows: benchmarks/results/smoothing.md.
        0.5,
        Range(float, ge=0),
        "Weight that is added to each class of a leaf for probabilities, so that a leaf with few rows does "
        "not claim certainty. It does not change the predicted class.",
        unit="rows",
        added="0.2.0",
    )
    n_threads: int = parameter(
        1,
        CountOrAll(int, ge=-1, le=MAX_THREADS),
        "Number of threads of the search; -1 means one for each core. After the same number of expansions, "
        "the tree and the bounds do not depend on it. The modes `quantile` and `all` use one.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.candidates == "widening" and self.leaves != (LEAVES_DEFAULT,):
            raise ValueError(
                f"candidate_leaves: expected the default {LEAVES_DEFAULT} with candidates='widening', "
                f"which chooses the numbers itself, got {list(self.leaves)!r}"
            )
        quantile = self.candidates == "quantile"
        allowed = LEAVES if quantile else replace(LEAVES, ge=2)
        if not self.leaves or (quantile and len(self.leaves) > 1):
            expected = "one integer with candidates='quantile'" if self.leaves else "one integer or more"
            raise ValueError(f"candidate_leaves: expected {expected}, got {list(self.leaves)!r}")
        counts = tuple(allowed.check("candidate_leaves", leaves) for leaves in self.leaves)
        object.__setattr__(self, "candidate_leaves", counts)

    @property
    def leaves(self) -> tuple[int, ...]:
        """`candidate_leaves` by level from the root; the last entry repeats."""
        assert isinstance(self.candidate_leaves, tuple)
        return self.candidate_leaves

    @property
    def settings(self) -> Settings:
        """The parameters that a tree keeps."""
        return Settings(
            self.max_depth,
            self.max_changepoints,
            self.split_penalty,
            self.changepoint_penalty,
            self.min_samples_leaf,
            self.probability_smoothing,
        )

    def to_json(self) -> dict[str, Any]:
        data = super().to_json()
        data["candidate_leaves"] = list(self.leaves)
        if isinstance(self.class_weight, Mapping):
            data["class_weight"] = [[labels.to_json(k), float(w)] for k, w in self.class_weight.items()]
        return data

    @classmethod
    def from_json(cls, data: Any) -> Self:
        if isinstance(data, dict) and isinstance(weights := data.get("class_weight"), list):
            data = {**data, "class_weight": {labels.from_json(label): weight for label, weight in weights}}
        return super().from_json(data)


@dataclass(frozen=True)
class ProgressOptions(ParameterSet):
    """How LiteratiClassifier shows its progress."""

    verbose: int = parameter(
        0,
        {0: "nothing", 1: "a progress line on standard error", 2: "the same as 1"},
        "What `fit` writes while it searches.",
    )
    callback: Callable[[SearchReport], object] | None = parameter(
        None,
        Accepted("None or a function", lambda value: value is None or callable(value)),
        "A function that `fit` calls with the SearchReport about four times a second. The search stops when "
        "it returns a true value.",
    )


SearchLimits.__module__ = "literati"  # the name in pickles, so that this module may move
