"""LiteratiClassifierCV: a scikit-learn classifier that chooses the size of its tree by cross-validation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import product
from time import perf_counter
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from literati.data import labels
from literati.data.columns import open_table
from literati.data.table import build
from literati.data.weights import checked_weights, times_class_weights
from literati.errors import DataWarning
from literati.notebook_display import TreeDisplayMixin
from literati.progress_line import ProgressLine
from literati.search.options import MAX_DEPTH, SearchLimits, SolverOptions
from literati.search.parameters import Range
from literati.search.report import StopReason
from literati.search.search import Search
from literati.tree.model import ShapeTree
from literati.tuning.candidates import Candidate, FoldResult, Setting, candidates_of
from literati.tuning.fold_scores import Scorer, TrainingData
from literati.tuning.folds import Fold, split_rows
from literati.tuning.path import (
    REPORT_SECONDS,
    RegularizationPath,
    exact_ratio,
    path_of_table,
    path_options,
)
from literati.tuning.paths_of_folds import PathsOfFolds
from literati.tuning.selection import choose, explain_choice

REFIT_SHARE = 0.1  # of the time limit
SELECT = ("best", "one_standard_error")
_COUNT = Range(int, ge=1, optional=True)
_DEPTH = Range(int, ge=1, le=MAX_DEPTH)
_CHANGEPOINTS = Range(int, ge=1, le=8)
_SECONDS = Range(float, gt=0, optional=True)


@dataclass(frozen=True)
class CVProgress:
    """What is known while the classifier is fitted."""

    paths_done: int
    paths: int
    best_score: float  # mean over the folds of what would be chosen now; NaN if there is nothing yet
    leaves: float  # its mean number of leaves
    elapsed_seconds: float


class LiteratiClassifierCV(TreeDisplayMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An optimal tree whose depth, change points and penalty are chosen by cross-validation.

    For every fold and every pair of depth and change points, the regularization path has the best tree for
    each penalty. So the mean score over the folds is known for every penalty, not only on a grid. The tree
    is then fitted to all rows with what was chosen. Trees are not polished.

    Parameters
    ----------
    max_depth, max_changepoints : int or sequence of int
        Values to try; every pair of them is a setting. The default depths 2 to 5 give trees that people can
        read. Depth 10 is for data with many rows, whose best trees can have hundreds of leaves; such paths
        are rarely proven and use all the time they get. Leave it out, or set `max_leaves`, if the tree has
        to be small.
    changepoint_ratio : float, default=0.5
        Penalty of a change point after the first one of a split, as a multiple of the penalty of a split.
    max_leaves : int or None, default=None
        Largest number of leaves of the tree; None means no limit.
    cv : int, splitter or iterable, default=5
        Number of stratified folds, which are shuffled with `random_state` and keep groups together if there
        are any; or a splitter of scikit-learn; or pairs of training and test rows.
    select : {"one_standard_error", "best"}, default="one_standard_error"
        "best" chooses the best mean score. "one_standard_error" chooses the smallest tree, by leaves and
        then by change points, whose mean is within one standard error of the best one. In both, trees that
        are proven on every fold come first where mean numbers of leaves round to the same number.
    scoring : str, callable or None, default="accuracy"
        A scorer of scikit-learn by name, or a function of (estimator, X, y); None means accuracy.
    time_limit : float or None, default=300.0
        Seconds of the whole fit. A tenth is for the last fit to all rows. Of the rest, every path gets an
        equal share of what is left when it starts; settings with small trees come first. What was cut short
        is counted in `cv_results_["proven_folds"]`.
    max_expansions : int or None, default=None
        Limit of the expansions of each path, and of the last fit. With it and without a time limit, the
        result is the same on every machine.
    random_state : int or None, default=0
        Seed of the folds.
    n_jobs : int or None, default=None
        Number of paths that are computed at the same time; None means 1, -1 means one for each core.
    refit : bool, default=True
        Whether to fit a tree to all rows. Without it there are only the results of the folds.
    candidates, candidate_leaves, min_samples_leaf, criterion, class_weight, categories
        As for LiteratiClassifier.
    probability_smoothing
        As for LiteratiClassifier.
    memory_limit
        Limit of each path; `n_jobs` of them are computed at the same time. As for LiteratiClassifier.
    verbose : int, default=0
        1 shows a progress line on standard error.
    callback : callable or None, default=None
        A function that is called with a CVProgress about four times a second. When it returns a true value
        while the folds are computed, the choice is made from what is finished and fitted to all rows; later,
        the last fit ends with its best tree so far. An interrupt (Ctrl-C) does the same, except in the last
        fit with `max_leaves`, where it raises KeyboardInterrupt.

    Attributes
    ----------
    tree_ : ShapeTree
        The chosen tree, fitted to all rows.
    best_params_ : dict
        Depth, change points and penalties of the tree.
    best_score_, best_index_ : float, int
        Mean score of the chosen candidate on held-out rows, and its row in `cv_results_`.
    choice_ : str
        A sentence that says why this candidate was chosen.
    cv_results_ : dict of arrays
        One row for each setting and interval of penalties in which no fold's tree changes.
    paths_ : dict
        The path of each fold, by (max_depth, max_changepoints).
    oof_predictions_ : array
        For each row, the prediction of the chosen candidate's tree of the fold that held the row out; None
        for rows that no fold held out.
    """

    def __init__(
        self,
        max_depth: int | Sequence[int] = (2, 3, 4, 5, 10),
        max_changepoints: int | Sequence[int] = (1, 2, 3),
        changepoint_ratio: float = 0.5,
        max_leaves: int | None = None,
        cv: Any = 5,
        select: str = "one_standard_error",
        scoring: Any = "accuracy",
        time_limit: float | None = 300.0,
        max_expansions: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        refit: bool = True,
        candidates: str = "adaptive",
        candidate_leaves: int | Sequence[int] = 17,
        min_samples_leaf: int = 1,
        criterion: str = "gini",
        class_weight: str | Mapping[Any, float] | None = None,
        categories: str = "ordered",
        probability_smoothing: float = 0.5,
        memory_limit: int | None = None,
        verbose: int = 0,
        callback: Callable[[CVProgress], object] | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_changepoints = max_changepoints
        self.changepoint_ratio = changepoint_ratio
        self.max_leaves = max_leaves
        self.cv = cv
        self.select = select
        self.scoring = scoring
        self.time_limit = time_limit
        self.max_expansions = max_expansions
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.refit = refit
        self.candidates = candidates
        self.candidate_leaves = candidate_leaves
        self.min_samples_leaf = min_samples_leaf
        self.criterion = criterion
        self.class_weight = class_weight
        self.categories = categories
        self.probability_smoothing = probability_smoothing
        self.memory_limit = memory_limit
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Choose depth, change points and penalty on the folds, and fit the tree to all rows."""
        started = perf_counter()
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)  # of an earlier fit
        settings, scorer = self._checked_settings(), Scorer(self.scoring)
        data = _training_data(X, y, sample_weight, self.class_weight)
        folds = split_rows(self.cv, self.random_state, data.X, data.codes, groups)
        limit = math.inf if self.time_limit is None else self.time_limit
        shared = (1 - REFIT_SHARE * bool(self.refit)) * limit
        limits = replace(self._limits(), time_limit=None if math.isinf(shared) else shared)
        paths = PathsOfFolds(data, folds, self._options(settings), self._ratio(), scorer, limits)
        whole = self._run(paths, started)
        results = paths.complete()
        if not results:
            raise RuntimeError("the fit was stopped before the first path was finished")
        candidates = _all_candidates(results)
        chosen = choose(candidates, self.select, self.max_leaves)  # type: ignore[arg-type]
        self._set_results(results, candidates, chosen, data, folds)
        self.choice_ = explain_choice(chosen, candidates, self.max_leaves, scorer.name)
        if self.refit:
            longest = math.inf if whole else paths.seconds[chosen.setting]
            self._refit(
                data,
                min(longest, limit - (perf_counter() - started)),
                # The request that ended the folds does not end the last fit too.
                lambda: not paths.stopped and self._is_stopped(paths, started),
            )
        self.fit_seconds_ = perf_counter() - started
        return self

    # Parameters

    def _checked_settings(self) -> list[Setting]:
        depths = _values("max_depth", self.max_depth, _DEPTH)
        changepoints = _values("max_changepoints", self.max_changepoints, _CHANGEPOINTS)
        exact_ratio(self.changepoint_ratio)
        _COUNT.check("max_leaves", self.max_leaves)
        _SECONDS.check("time_limit", self.time_limit)
        if self.select not in SELECT:
            raise ValueError(f"select: expected one of {', '.join(SELECT)}, got {self.select!r}")
        return [Setting(*pair) for pair in product(depths, changepoints)]

    def _limits(self) -> SearchLimits:
        return SearchLimits(None, self.max_expansions, self.memory_limit)

    def _ratio(self) -> Fraction:
        return exact_ratio(self.changepoint_ratio)

    def _options(self, settings: Sequence[Setting]) -> dict[Setting, SolverOptions]:
        """Return the options of each setting."""
        return {setting: path_options({**self._space(), **asdict(setting)}) for setting in settings}

    def _space(self) -> dict[str, Any]:
        """Return the parameters of a path that are the same in all settings."""
        names = (
            "candidates",
            "candidate_leaves",
            "min_samples_leaf",
            "criterion",
            "categories",
            "probability_smoothing",
        )
        balanced = self.class_weight if isinstance(self.class_weight, str) else None  # others are in the rows
        return {name: getattr(self, name) for name in names} | {"class_weight": balanced}

    # Folds

    def _run(self, paths: PathsOfFolds, started: float) -> bool:
        """Compute the paths and show the progress. Return whether nothing cut them short."""
        line = ProgressLine() if self.verbose else None

        def watch() -> bool:
            if line is not None:
                progress = self._progress(paths, started)
                line.show(
                    f"{progress.paths_done} of {progress.paths} paths  best score {progress.best_score:.4g}  "
                    f"{progress.leaves:.3g} leaves  {progress.elapsed_seconds:.0f} s"
                )
            return self._is_stopped(paths, started)

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # a part of the rows may have constant columns
                return paths.run(effective_n_jobs(self.n_jobs), watch)
        finally:
            if line is not None:
                line.close()

    def _is_stopped(self, paths: PathsOfFolds, started: float) -> bool:
        """Tell the callback about the progress. Return whether it asks to stop."""
        return self.callback is not None and bool(self.callback(self._progress(paths, started)))

    def _progress(self, paths: PathsOfFolds, started: float) -> CVProgress:
        candidates = _all_candidates(paths.complete())
        score, leaves = math.nan, math.nan
        if candidates:
            chosen = choose(candidates, self.select, self.max_leaves)  # type: ignore[arg-type]
            score, leaves = chosen.mean, chosen.leaves
        return CVProgress(paths.done, paths.total, score, leaves, perf_counter() - started)

    def _set_results(
        self,
        results: Mapping[Setting, Sequence[FoldResult]],
        candidates: Sequence[Candidate],
        chosen: Candidate,
        data: TrainingData,
        folds: Sequence[Fold],
    ) -> None:
        self.classes_ = data.classes
        self.n_splits_ = len(folds)
        self.cv_results_ = _table(candidates)
        self.best_index_ = candidates.index(chosen)
        self.best_score_ = chosen.mean
        self._set_params(chosen.setting, chosen.penalty)
        self.paths_: dict[tuple[int, int], list[RegularizationPath]] = {
            (setting.max_depth, setting.max_changepoints): [
                cast(RegularizationPath, fold.path) for fold in found
            ]
            for setting, found in results.items()
        }
        self.oof_predictions_ = _held_out_predictions(results[chosen.setting], chosen, data, folds)

    def _set_params(self, setting: Setting, penalty: float) -> None:
        self.best_params_: dict[str, Any] = {
            "max_depth": setting.max_depth,
            "max_changepoints": setting.max_changepoints,
            "split_penalty": penalty,
            "changepoint_penalty": penalty * self.changepoint_ratio,
        }

    # All rows

    def _refit(self, data: TrainingData, seconds: float, is_stopped: Callable[[], bool]) -> None:
        """Fit the chosen parameters to all rows, until it is stopped."""
        limits = replace(self._limits(), time_limit=None if math.isinf(seconds) else max(seconds, 0.1))
        setting = Setting(self.best_params_["max_depth"], self.best_params_["max_changepoints"])
        weights = data.search_weights
        if self.max_leaves is None:
            parameters = {**self._space(), **self.best_params_, "polish": False}
            search = Search(data.X, data.y, sample_weight=weights, limits=limits, **parameters)
            with suppress(KeyboardInterrupt):
                while search.run(REPORT_SECONDS).stop_reason is StopReason.RUNNING:
                    if is_stopped():
                        search.stop()
            self.tree_ = search.incumbent()
        else:
            options = self._options([setting])[setting]
            table = build(data.X, data.y, weights, options.class_weight, options.categories)
            path = path_of_table(table, options, self._ratio(), limits, callback=lambda _: is_stopped())
            penalty = self.best_params_["split_penalty"]
            self.tree_ = _small_tree(path, penalty, self.max_leaves)
            self._set_params(setting, max(penalty, self.tree_.settings.split_penalty))
        self.n_features_in_ = len(self.tree_.schema.columns)
        if self.tree_.schema.named:
            self.feature_names_in_ = np.array(self.tree_.feature_names, dtype=object)

    # Predictions

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row, as a label of the training data."""
        return self._fitted_tree().predict(X)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class for each row, ordered as `classes_`."""
        return self._fitted_tree().predict_proba(X)

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Return the share of each column in the training errors that the splits of the tree save."""
        return self._fitted_tree().feature_importances

    def _fitted_tree(self) -> ShapeTree:
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "tree_"):
            raise NotFittedError("there is no tree for all rows; fit with refit=True")
        return self.tree_

    # Plots

    def plot_cv(self, ax: Any = None) -> Any:
        """Plot the score on held-out rows with its standard error against the number of leaves.

        Return the Axes. This needs matplotlib.
        """
        from literati.tuning.plots import plot_cv

        check_is_fitted(self, "cv_results_")
        return plot_cv(self, ax)

    def plot_path(self, ax: Any = None) -> Any:
        """Plot the mean score against the penalty, with the chosen penalty. Return the Axes."""
        from literati.tuning.plots import plot_path

        check_is_fitted(self, "cv_results_")
        return plot_path(self, ax)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the callback, which is a function."""
        return {name: value for name, value in super().__getstate__().items() if name != "callback"} | {
            "callback": None
        }


LiteratiClassifierCV.__module__ = "literati"  # the name in pickles, so that this module may move


def _values(name: str, given: Any, allowed: Range) -> list[int]:
    """Return the values of a parameter to try, sorted, each once."""
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not values:
        raise ValueError(f"{name}: expected one value or more, got {given!r}")
    return sorted({allowed.check(name, value) for value in values})


def _training_data(X: Any, y: Any, sample_weight: Any, class_weight: Any) -> TrainingData:
    n_rows = open_table(X).n_rows
    codes, classes = labels.encode(y)
    if len(codes) != n_rows:
        raise ValueError(f"X and y must have the same number of rows; got {n_rows} and {len(codes)}")
    if len(classes) < 2:
        raise ValueError(f"y: expected two or more classes, got 1 class: {labels.plain(classes[0])!r}")
    weights = searched = checked_weights(sample_weight, n_rows)
    if isinstance(class_weight, Mapping):  # a fold may lack a class that the mapping names
        searched = times_class_weights(weights, class_weight, codes, classes)
    return TrainingData(X, codes, classes, weights, searched)


def _small_tree(path: RegularizationPath, penalty: float, max_leaves: int) -> ShapeTree:
    """Return the tree of a penalty, or of the next larger one whose tree is small enough."""
    return next(
        segment.tree for segment in path if segment.penalty_to > penalty and segment.leaves <= max_leaves
    )


def _all_candidates(results: Mapping[Setting, Sequence[FoldResult]]) -> list[Candidate]:
    order = sorted(results, key=lambda setting: (setting.max_depth, setting.max_changepoints))
    return [candidate for setting in order for candidate in candidates_of(setting, results[setting])]


def _table(candidates: Sequence[Candidate]) -> dict[str, npt.NDArray[Any]]:
    """Return the candidates as columns, named as in scikit-learn's searches."""
    scores = np.array([candidate.scores for candidate in candidates])
    means = scores.mean(axis=1)
    columns: dict[str, Any] = {
        "param_max_depth": [c.setting.max_depth for c in candidates],
        "param_max_changepoints": [c.setting.max_changepoints for c in candidates],
        "penalty_from": [c.penalty_from for c in candidates],
        "penalty_to": [c.penalty_to for c in candidates],
        "mean_test_score": means,
        "std_test_score": scores.std(axis=1),
        "standard_error": [c.standard_error for c in candidates],
        "rank_test_score": 1 + np.array([np.count_nonzero(means > mean) for mean in means]),
        "mean_train_score": [float(np.mean(c.train_scores)) for c in candidates],
        "mean_leaves": [c.leaves for c in candidates],
        "mean_changepoints": [c.changepoints for c in candidates],
        "proven_folds": [c.proven_folds for c in candidates],
        "max_gap": [c.max_gap for c in candidates],
    }
    columns |= {f"split{fold}_test_score": scores[:, fold] for fold in range(scores.shape[1])}
    return {name: np.asarray(values) for name, values in columns.items()}


def _held_out_predictions(
    results: Sequence[FoldResult],
    chosen: Candidate,
    data: TrainingData,
    folds: Sequence[Fold],
) -> npt.NDArray[Any]:
    predictions = np.full(len(data.codes), None, dtype=object)
    for result in results:
        test = folds[result.fold][1]
        tree = cast(RegularizationPath, result.path)[result.at(chosen.penalty_from)].tree
        predictions[test] = tree.predict(data.rows(test)[0])
    if any(value is None for value in predictions):
        return predictions
    return predictions.astype(data.classes.dtype)
