"""LiteratiClassifier: the search as a scikit-learn classifier."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from textwrap import wrap
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from literati.data import labels
from literati.notebook_display import TreeDisplayMixin
from literati.progress_line import ProgressLine
from literati.search.options import ProgressOptions, SolverOptions
from literati.search.parameters import Parameter, ParameterSet
from literati.search.report import SearchReport, StopReason, read_trace
from literati.search.search import Search, SearchLimits
from literati.tree.model import ShapeTree
from literati.tree.nodes import BEYOND_SPACE

REPORT_SECONDS = 0.25  # between two reports
STATE_VERSION = 1
ROUTED = ("fit", "score")  # methods that take metadata, such as sample_weight


class LiteratiClassifier(TreeDisplayMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An optimal shape-generalized decision tree, found by an anytime search.

    The search minimises the weight of the misclassified training rows plus, for every split, `split_penalty`
    and `changepoint_penalty` for each change point after the first. Columns may have missing values and
    categories.
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
        or_selection: str = "mixed",
        and_selection: str = "round_robin",
        heuristic: str = "cart",
        criterion: str = "gini",
        polish: bool = True,
        class_weight: str | Mapping[Any, float] | None = None,
        n_threads: int = 1,
        verbose: int = 0,
        callback: Callable[[SearchReport], object] | None = None,
        categories: str = "ordered",
        min_samples_leaf: int = 1,
        probability_smoothing: float = 0.5,
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
        self.min_samples_leaf = min_samples_leaf
        self.probability_smoothing = probability_smoothing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Search until a limit is reached or the optimum is proven.

        An interrupt raises KeyboardInterrupt and leaves the estimator unchanged.
        """
        ProgressOptions(**self._parameters_of(ProgressOptions))
        limits = SearchLimits(**self._parameters_of(SearchLimits))
        options = self._parameters_of(SolverOptions)
        search = Search(X, y, sample_weight=sample_weight, limits=limits, **options)
        self._run(search)
        tree, report = search.incumbent(), search.report()
        self._set_fitted(tree, report, search.trace())
        return self

    def _parameters_of(self, group: type[ParameterSet]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in group.definitions()}

    def _run(self, search: Search) -> None:
        if not self.verbose and self.callback is None:
            search.run()
            return
        line = _SearchProgress() if self.verbose else None
        try:
            report = search.run(0.0)
            while True:
                if line is not None:
                    line.show(report)
                if self.callback is not None and self.callback(report):
                    search.stop()
                    search.run(REPORT_SECONDS)
                    return
                if report.stop_reason is not StopReason.RUNNING:
                    return
                report = search.run(REPORT_SECONDS)
        finally:
            if line is not None:
                line.close()

    def _set_fitted(self, tree: ShapeTree, report: SearchReport, trace: npt.NDArray[Any]) -> None:
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
        self.explored_ = report.explored
        self.proven_optimal_ = report.proven_optimal
        self.proven_space_ = report.proven_space
        self.stop_reason_ = report.stop_reason
        self.n_expansions_ = report.expansions
        self.fit_seconds_ = report.elapsed_seconds
        self.trace_ = trace
        self.report_ = report

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Return the share of each column in the training errors that the splits of the tree save.

        The shares add up to 1, or all are 0 if no split saves errors, as in a single leaf.
        `tree_.errors_saved` has the weight of the errors saved instead of shares.
        """
        check_is_fitted(self)
        return self.tree_.feature_importances

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row, as a label of the training data."""
        check_is_fitted(self)
        return self.tree_.predict(X)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class for each row, ordered as `classes_`.

        It is the class's share in the training weight of the row's leaf, after `probability_smoothing` is
        added to the weight of each class.
        """
        check_is_fitted(self)
        return self.tree_.predict_proba(X)

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the leaf of each row, as an index into `tree_.nodes`."""
        check_is_fitted(self)
        return self.tree_.apply(X)

    def decision_path(self, X: Any) -> Any:
        """Return a sparse 0/1 matrix of the nodes that each row passes."""
        check_is_fitted(self)
        return self.tree_.decision_path(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        # Without a penalty the optimal tree fits noise, and fails scikit-learn's check of class weights,
        # which is on pure noise. It passes all other checks.
        tags.classifier_tags.poor_score = self.split_penalty == 0
        return tags

    # A pickle holds one JSON text, so nothing in it can run. The callback is a function and is left out.

    def __getstate__(self) -> dict[str, Any]:
        parameters = {
            name: _plain(name, getattr(self, name))
            for name, entry in definitions().items()
            if entry.added is None or getattr(self, name) != entry.default
        }
        state: dict[str, Any] = {"version": STATE_VERSION, "parameters": parameters, "fitted": None}
        if hasattr(self, "tree_"):
            state["fitted"] = {
                "tree": self.tree_.to_dict(),
                "report": self.report_.to_dict(),
                "trace": [list(row) for row in self.trace_.tolist()],
            }
        if hasattr(self, "_metadata_request"):  # from `set_fit_request` or `set_score_request`
            routing = self.get_metadata_routing()
            state["metadata_requests"] = {method: getattr(routing, method).requests for method in ROUTED}
        return {"json": json.dumps(state, allow_nan=False)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = json.loads(state["json"])
        if data.get("version") != STATE_VERSION:
            raise ValueError(
                f"this library reads pickles of version {STATE_VERSION}, not {data.get('version')!r}"
            )
        parameters = data["parameters"]
        if unknown := sorted(parameters.keys() - definitions().keys()):
            raise ValueError(f"this version of literati does not have the pickle's parameter {unknown[0]!r}")
        weights = parameters.get("class_weight")
        if isinstance(weights, list):
            parameters["class_weight"] = {labels.from_json(label): weight for label, weight in weights}
        self.__init__(**parameters)  # type: ignore[misc]
        if data["fitted"] is not None:
            fitted = data["fitted"]
            report = SearchReport.from_dict(fitted["report"])
            trace = read_trace(fitted["trace"])
            self._set_fitted(ShapeTree.from_dict(fitted["tree"]), report, trace)
        if "metadata_requests" in data:
            self._set_metadata_requests(data["metadata_requests"])

    def _set_metadata_requests(self, requests: Mapping[str, Mapping[str, bool | str | None]]) -> None:
        """Do as `set_fit_request` and `set_score_request`, also where metadata routing is not enabled."""
        routing = self.get_metadata_routing()
        for method in ROUTED:
            for name, alias in requests[method].items():
                getattr(routing, method).add_request(param=name, alias=alias)
        self._metadata_request = routing


def definitions() -> dict[str, Parameter]:
    """Return the definitions of the classifier's parameters, in the order of its signature."""
    groups = (SolverOptions, SearchLimits, ProgressOptions)
    defined = {name: entry for group in groups for name, entry in group.definitions().items()}
    return {name: defined[name] for name in signature(LiteratiClassifier).parameters}


def _parameters_section() -> str:
    """Return the section "Parameters" of the classifier's docstring, in the format of numpydoc."""
    lines = ["", "    Parameters", "    ----------"]
    for name, entry in definitions().items():
        lines.append(f"    {name} : {entry.values}, default={entry.default!r}")
        lines += wrap(entry.sentences(), 100, initial_indent=8 * " ", subsequent_indent=8 * " ")
    return "\n".join([*lines, "    "])


LiteratiClassifier.__module__ = "literati"  # the name in pickles, so that this module may move
LiteratiClassifier.__doc__ = f"{LiteratiClassifier.__doc__}{_parameters_section()}"


def _plain(name: str, value: Any) -> Any:
    """Return a parameter as JSON data."""
    if name == "callback":
        return None
    if name == "class_weight" and isinstance(value, Mapping):
        return [[labels.to_json(label), float(weight)] for label, weight in value.items()]
    if isinstance(value, np.ndarray | tuple | list):
        return [labels.plain(item) for item in value]
    return labels.plain(value)


class _SearchProgress:
    """Show the reports of a search on a progress line."""

    def __init__(self) -> None:
        self.line = ProgressLine()
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
        self.line.show(text)

    def close(self) -> None:
        self.line.close(BEYOND_SPACE if self.beyond_space else "")
