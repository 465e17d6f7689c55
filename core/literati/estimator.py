"""LiteratiClassifier: the search in scikit-learn's clothes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import labels
from .model import ShapeTree
from .nodes import BEYOND_SPACE
from .report import SearchReport, StopReason
from .search import Search, SearchLimits

SLICE = 0.25  # seconds between two reports
STATE_VERSION = 1
_LIMITS = ("time_limit", "max_expansions", "memory_limit", "gap", "gap_absolute", "patience")
_NOT_OPTIONS = (*_LIMITS, "verbose", "callback")
_TRACE = np.dtype([("seconds", "<f8"), ("expansions", "<i8"), ("upper", "<f8"), ("lower", "<f8")])


class LiteratiClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An optimal shape-generalized decision tree, found by an anytime search.

    The search minimises the weight of the misclassified training rows plus, for every split, `split_penalty`
    and `changepoint_penalty` for each change point after the first. Missing values and categories are legal.

    Parameters
    ----------
    max_depth : depth of the tree, 1 to 12.
    max_changepoints : change points of a split's shape function, 1 to 8; 1 is an ordinary threshold.
    split_penalty, changepoint_penalty : in misclassified rows.
    candidates : where change points may lie: "adaptive", "shape", "quantile" or "all".
    candidate_leaves : leaves of the CART that makes the candidates, a number or a list by level from the root
        whose last entry repeats; for "quantile" the quantiles a feature.
    time_limit, max_expansions, memory_limit, gap, gap_absolute, patience : when to stop; see SearchLimits.
    or_selection, and_selection, heuristic, criterion : how the search orders its work.
    polish : improve the tree beyond the candidates at the end and on the way.
    class_weight : None, "balanced" or a mapping from label to weight.
    n_threads : only 1 so far.
    verbose : 1 shows a progress line on standard error.
    callback : called with the SearchReport about four times a second; a true result stops the search.
    categories : "ordered" codes categories by the rate of the most frequent class, "one_hot" one by one.
    """

    def __init__(
        self,
        max_depth: int = 4,
        max_changepoints: int = 2,
        split_penalty: float = 0.0,
        changepoint_penalty: float = 0.0,
        candidates: str = "adaptive",
        candidate_leaves: int | Sequence[int] = 17,
        time_limit: float | None = 60.0,
        max_expansions: int | None = None,
        memory_limit: int | None = None,
        gap: float = 0.0,
        gap_absolute: float = 0.0,
        patience: float | None = None,
        or_selection: str = "informative",
        and_selection: str = "round_robin",
        heuristic: str = "cart",
        criterion: str = "gini",
        polish: bool = True,
        class_weight: str | Mapping[Any, float] | None = None,
        n_threads: int = 1,
        verbose: int = 0,
        callback: Callable[[SearchReport], object] | None = None,
        categories: str = "ordered",
    ) -> None:
        self.max_depth = max_depth
        self.max_changepoints = max_changepoints
        self.split_penalty = split_penalty
        self.changepoint_penalty = changepoint_penalty
        self.candidates = candidates
        self.candidate_leaves = candidate_leaves
        self.time_limit = time_limit
        self.max_expansions = max_expansions
        self.memory_limit = memory_limit
        self.gap = gap
        self.gap_absolute = gap_absolute
        self.patience = patience
        self.or_selection = or_selection
        self.and_selection = and_selection
        self.heuristic = heuristic
        self.criterion = criterion
        self.polish = polish
        self.class_weight = class_weight
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback
        self.categories = categories

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Search until a limit or the proof. Interrupted, it raises and leaves the estimator as it was."""
        parameters = self.get_params(deep=False)
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback: expected None or a function, got {self.callback!r}")
        if isinstance(self.verbose, str) or self.verbose not in (0, 1, 2):
            raise ValueError(f"verbose: expected 0 or 1, got {self.verbose!r}")
        limits = SearchLimits(**{name: parameters[name] for name in _LIMITS})
        options = {name: value for name, value in parameters.items() if name not in _NOT_OPTIONS}
        search = Search(X, y, sample_weight=sample_weight, limits=limits, **options)
        self._drive(search)
        tree, report = search.incumbent(), search.report()
        self._adopt(tree, report, search.trace())
        return self

    def _drive(self, search: Search) -> None:
        if not self.verbose and self.callback is None:
            search.run()
            return
        line = _ProgressLine() if self.verbose else None
        try:
            report = search.run(0.0)
            while True:
                if line is not None:
                    line.show(report)
                if self.callback is not None and self.callback(report):
                    search.stop()
                    search.run(SLICE)
                    return
                if report.stop_reason is not StopReason.RUNNING:
                    return
                report = search.run(SLICE)
        finally:
            if line is not None:
                line.close()

    def _adopt(self, tree: ShapeTree, report: SearchReport, trace: npt.NDArray[Any]) -> None:
        self.tree_ = tree
        self.classes_ = tree.classes.copy()
        self.n_features_in_ = len(tree.schema.columns)
        if tree.schema.named:
            self.feature_names_in_ = np.array(tree.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.objective_ = tree.objective
        self.beyond_space_ = tree.proof.beyond_space
        self.upper_bound_ = report.upper_bound
        self.lower_bound_ = report.lower_bound
        self.gap_ = report.gap
        self.proven_optimal_ = report.proven_optimal
        self.proven_space_ = report.proven_space
        self.stop_reason_ = report.stop_reason
        self.n_expansions_ = report.expansions
        self.fit_seconds_ = report.elapsed_seconds
        self.trace_ = trace
        self.report_ = report

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row, spelt as in training."""
        check_is_fitted(self)
        return self.tree_.predict(X)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Class shares of the training weight in each row's leaf, in the order of `classes_`."""
        check_is_fitted(self)
        return self.tree_.predict_proba(X)

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """The leaf that each row ends in, as an index into `tree_.nodes`."""
        check_is_fitted(self)
        return self.tree_.apply(X)

    def decision_path(self, X: Any) -> Any:
        """A sparse 0/1 matrix of the nodes that each row passes."""
        check_is_fitted(self)
        return self.tree_.decision_path(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        # Without a penalty the optimum fits noise, all of it if it can. scikit-learn's check of class
        # weights, on pure noise, asks for a restraint that only a split_penalty gives. No other needs it.
        tags.classifier_tags.poor_score = self.split_penalty == 0
        return tags

    # Pickles hold one JSON text and nothing that could run. A callback is a function, so it stays behind.

    def __getstate__(self) -> dict[str, Any]:
        parameters = {name: _plain(name, value) for name, value in self.get_params(deep=False).items()}
        state: dict[str, Any] = {"version": STATE_VERSION, "parameters": parameters, "fitted": None}
        if hasattr(self, "tree_"):
            state["fitted"] = {
                "tree": self.tree_.to_dict(),
                "report": self.report_.to_dict(),
                "trace": [list(row) for row in self.trace_.tolist()],
            }
        return {"json": json.dumps(state, allow_nan=False)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = json.loads(state["json"])
        if data.get("version") != STATE_VERSION:
            raise ValueError(
                f"this library reads pickles of version {STATE_VERSION}, not {data.get('version')!r}"
            )
        parameters = data["parameters"]
        weights = parameters["class_weight"]
        if isinstance(weights, list):
            parameters["class_weight"] = {labels.from_json(label): weight for label, weight in weights}
        self.__init__(**parameters)  # type: ignore[misc]
        if data["fitted"] is not None:
            fitted = data["fitted"]
            report = SearchReport.from_dict(fitted["report"])
            trace = np.array([tuple(row) for row in fitted["trace"]], dtype=_TRACE)
            self._adopt(ShapeTree.from_dict(fitted["tree"]), report, trace)


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON has it."""
    if name == "callback":
        return None
    if name == "class_weight" and isinstance(value, Mapping):
        return [[labels.to_json(label), float(weight)] for label, weight in value.items()]
    if isinstance(value, np.ndarray | tuple | list):
        return [labels.plain(item) for item in value]
    return labels.plain(value)


class _ProgressLine:
    """One line on standard error that is written over and over."""

    def __init__(self) -> None:
        self.width = 0
        self.last = (0.0, 0)
        self.beyond_space = False

    def show(self, report: SearchReport) -> None:
        seconds, expansions = self.last
        passed = report.elapsed_seconds - seconds
        speed = (report.expansions - expansions) / passed if passed > 0 else 0.0
        self.last = (report.elapsed_seconds, report.expansions)
        text = (
            f"upper {report.upper_bound:g}  lower {report.lower_bound:g}  gap {100 * report.gap:.2f} %  "
            f"{speed:,.0f} expansions/s  {report.memory_bytes / 2**20:,.1f} MiB  "
            f"{report.elapsed_seconds:.1f} s"
        )
        self.beyond_space = report.beyond_space
        if report.beyond_space:
            text = f"tree {report.objective:g}  {text}"
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def close(self) -> None:
        sys.stderr.write(f"\n{BEYOND_SPACE}\n" if self.beyond_space else "\n")
        sys.stderr.flush()
