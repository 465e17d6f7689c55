"""Checks that every fit must pass, whatever the data and the limits."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from literati import LiteratiClassifier, Search, SearchLimits, SearchReport, StopReason
from literati.data.table import build
from literati.errors import DataWarning
from tests.fuzz.cases import Case
from tests.fuzz.encoding import exact, final_weights, problem_of
from tests.fuzz.evaluator import Evaluator
from tests.support.solver import oracle
from tests.support.solver.mask_oracle import MOST_ROWS, MaskOracle
from tests.support.solver.problems import Problem

LIMITS = ("time_limit", "max_expansions", "memory_limit", "gap", "gap_absolute", "patience")
SLACK = 0.5  # seconds beyond the time limit, for reading the data, building the tree and a busy machine
ENDLESS = 30.0  # seconds after which a fit without a time limit counts as endless
MAX_SPLITS = 150_000  # for the compiled oracle; about a tenth of a second
MAX_NAIVE_SPLITS = 20_000  # up to this number the naive oracle runs too

DECIDED_BY = {
    StopReason.TIME_LIMIT: "time_limit",
    StopReason.EXPANSION_LIMIT: "max_expansions",
    StopReason.MEMORY_LIMIT: "memory_limit",
    StopReason.NO_IMPROVEMENT: "patience",
}


@dataclass
class Fit:
    """A case and the result of its fit."""

    case: Case
    reports: list[SearchReport]
    trace: Any
    tree: Any
    predicted: list[Any]
    seconds: float
    endless: bool = False
    restarts: list[int] = field(default_factory=list)  # indices of the first reports after a resume


class Refused(Exception):
    """The library rejected the data or the parameters, which is allowed."""


def frame(case: Case) -> pd.DataFrame:
    return pd.DataFrame({f"c{i}": list(cells) for i, cells in enumerate(case.columns)})


def fit(case: Case, patience: float = ENDLESS) -> Fit:
    """Fit the estimator, or run the search with its resumes; stop it after `patience` seconds."""
    data, weights = frame(case), None if case.weights is None else np.array(case.weights)
    y = list(case.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # constant columns
        try:
            return (_search if case.resumes else _estimator)(case, data, y, weights, patience)
        except ValueError as error:
            if str(error).startswith(("memory_limit: ", "sample_weight, class_weight: ", "y: ", "X: every")):
                raise Refused(str(error)) from error
            raise


def _estimator(case: Case, data: pd.DataFrame, y: list[Any], weights: Any, patience: float) -> Fit:
    reports: list[SearchReport] = []
    endless: list[bool] = []

    def watch(report: SearchReport) -> bool:
        reports.append(report)
        endless[:] = [time.monotonic() - start > patience]
        return endless[0]

    model = LiteratiClassifier(**case.parameters, callback=watch if case.watched else None)
    start, busy = time.monotonic(), time.process_time()
    model.fit(data, y, sample_weight=weights)
    # On a busy machine a fit is late only if it used the time that it took.
    seconds = min(time.monotonic() - start, time.process_time() - busy)
    reports.append(model.report_)
    predicted = model.predict(data).tolist()
    return Fit(case, reports, model.trace_, model.tree_, predicted, seconds, any(endless))


def _search(case: Case, data: pd.DataFrame, y: list[Any], weights: Any, patience: float) -> Fit:
    """Run `Search` with a checkpoint and a resume after each of the given numbers of expansions."""
    parameters = {name: value for name, value in case.parameters.items() if name not in LIMITS}
    reports: list[SearchReport] = []
    restarts: list[int] = []
    start, done, blob = time.monotonic(), 0, b""
    for more in (*case.resumes, None):
        most = None if more is None else max(1, done + more)
        limits = SearchLimits(time_limit=patience, max_expansions=most)
        if blob:
            search = Search.resume(data, y, blob, sample_weight=weights, limits=limits)
            restarts.append(len(reports))
        else:
            search = Search(data, y, sample_weight=weights, limits=limits, **parameters)
        reports.append(search.report())
        reports.append(search.run())
        done, blob = reports[-1].expansions, search.checkpoint()
    tree = search.incumbent()
    reports.append(search.report())
    seconds = time.monotonic() - start
    endless = reports[-1].stop_reason is StopReason.TIME_LIMIT
    return Fit(case, reports, search.trace(), tree, tree.predict(data).tolist(), seconds, endless, restarts)


@dataclass
class Finding:
    """The broken promises of a case, each beginning with its kind, and labels for the summary."""

    broken: list[str]
    words: list[str]

    def kind(self) -> str:
        return self.broken[0].partition(":")[0] if self.broken else ""


def examine(case: Case, patience: float = ENDLESS) -> Finding:
    """Fit the case and run all checks."""
    words = [case.kind, case.parameter("candidates", "adaptive")]
    try:
        fitted = fit(case, patience)
    except Refused:
        return Finding([], [*words, "refused"])
    except Exception as error:
        return Finding([f"crash: {type(error).__name__}: {error}"], words)
    tolerance = Tolerance(case)
    words += [str(fitted.reports[-1].stop_reason), "exact costs" if tolerance.exact else "rounded costs"]
    words += ["resumed"] * bool(case.resumes)
    broken = [*_in_time(fitted), *_reports(fitted), *_reason(fitted), *_tree(fitted, tolerance)]
    exact_values = None if fitted.endless else solved(case, tolerance)
    if exact_values is not None:
        words.append("solved by an oracle")
        broken += [
            *_optimum(fitted, tolerance, exact_values.optimum()),
            *_claims(fitted, tolerance, exact_values),
        ]
    return Finding(broken, words)


class Tolerance:
    """Return by how much two costs of a case may differ; zero where costs are exact."""

    def __init__(self, case: Case) -> None:
        self.weights = final_weights(case)
        penalties = (case.parameter("split_penalty", 0.0), case.parameter("changepoint_penalty", 0.0))
        self.total = math.fsum(self.weights)
        self.exact = exact([w for w in self.weights if w > 0], penalties)
        self.value = 0.0 if self.exact else 1e-9 * self.total


def _in_time(fitted: Fit) -> Iterator[str]:
    limit = fitted.case.parameter("time_limit", 60.0)
    if fitted.endless:
        yield f"endless: it did not end within {ENDLESS:g} s"
    elif not fitted.case.resumes and limit is not None and fitted.seconds > limit + SLACK:
        yield f"late: the time limit is {limit} s, the fit took {fitted.seconds:.2f} s"


def _reports(fitted: Fit) -> Iterator[str]:
    yield from _trace(fitted)
    for report in fitted.reports:
        if not report.lower_bound <= report.upper_bound:
            yield f"bounds: lower {report.lower_bound!r} is above upper {report.upper_bound!r}"
        if not report.objective <= report.upper_bound:
            yield f"bounds: the objective {report.objective!r} is above upper {report.upper_bound!r}"
        if report.proven_optimal != (report.lower_bound >= report.upper_bound):
            yield f"proof: proven is {report.proven_optimal} with bounds {_bounds(report)}"
    for before, after in pairwise(fitted.reports):
        if after.lower_bound < before.lower_bound or after.upper_bound > before.upper_bound:
            yield f"bounds: they went back from {_bounds(before)} to {_bounds(after)}"
        if after.objective > before.objective:
            yield f"bounds: the objective rose from {before.objective!r} to {after.objective!r}"
        if after.expansions < before.expansions or after.elapsed_seconds < before.elapsed_seconds:
            yield "reports: expansions or seconds went back"


def _trace(fitted: Fit) -> Iterator[str]:
    trace = fitted.trace
    for name, way in (("upper", -1), ("lower", 1), ("expansions", 1), ("seconds", 1)):
        if (way * np.diff(trace[name]) < 0).any():
            yield f"trace: {name} goes back: {trace[name].tolist()}"
    if (trace["lower"] > trace["upper"]).any():
        yield "trace: lower is above upper"
    if len(trace) and (trace["upper"][-1], trace["lower"][-1]) != _bounds(fitted.reports[-1]):
        yield f"trace: it ends at {trace[-1]}, the report at {_bounds(fitted.reports[-1])}"


def _bounds(report: SearchReport) -> tuple[float, float]:
    return (report.upper_bound, report.lower_bound)


def _reason(fitted: Fit) -> Iterator[str]:
    last, case = fitted.reports[-1], fitted.case
    reason, equal = last.stop_reason, last.lower_bound >= last.upper_bound
    if equal != (reason is StopReason.PROVEN_OPTIMAL):
        yield f"reason: {reason} with bounds {_bounds(last)}"
    if case.resumes or fitted.endless:
        return
    if reason is StopReason.RUNNING or reason is StopReason.USER_STOP:
        yield f"reason: {reason}, but the fit is over and nobody stopped it"
    default = 60.0 if reason is StopReason.TIME_LIMIT else None
    if reason in DECIDED_BY and case.parameter(DECIDED_BY[reason], default) is None:
        yield f"reason: {reason} without such a limit"
    if reason is StopReason.GAP_REACHED:
        allowed = max(case.parameter("gap", 0.0) * last.upper_bound, case.parameter("gap_absolute", 0.0))
        if last.upper_bound - last.lower_bound > allowed * (1 + 1e-9):
            yield f"reason: {reason} with bounds {_bounds(last)}, allowed is {allowed!r}"


def _tree(fitted: Fit, tolerance: Tolerance) -> Iterator[str]:
    """Check the tree in its JSON form: it routes the rows and costs as it says."""
    case, last = fitted.case, fitted.reports[-1]
    read = Evaluator(fitted.tree.to_dict())
    paths = [read.path([column[row] for column in case.columns]) for row in range(case.n_rows)]
    labels = [read.label(path[-1]) for path in paths]
    if labels != fitted.predicted:
        yield "tree: predict says something else than its JSON form"
    wrong = [w for w, said, y in zip(tolerance.weights, labels, case.y, strict=True) if said != y]
    cost = math.fsum(wrong) + read.penalties(case)
    for name, claim in (("report's objective", last.objective), ("tree's objective", fitted.tree.objective)):
        if abs(cost - claim) > tolerance.value:
            yield f"tree: it costs {cost!r}, the {name} is {claim!r}"
    if case.parameter("polish", True) is False and abs(cost - last.upper_bound) > tolerance.value:
        yield f"tree: not polished it costs {cost!r}, the upper bound is {last.upper_bound!r}"
    if read.depth() > case.parameter("max_depth", 4):
        yield f"tree: its depth is {read.depth()}"
    least = case.parameter("min_samples_leaf", 1)
    shortest = read.shortest_interval(case, [w > 0 for w in tolerance.weights])
    if shortest < least:
        yield f"tree: an interval has {shortest} rows, min_samples_leaf is {least}"
    if read.most_changepoints() > case.parameter("max_changepoints", 2):
        yield f"tree: a split has {read.most_changepoints()} change points"


def solved(case: Case, tolerance: Tolerance) -> MaskOracle | None:
    """The compiled oracle of a case that it solves quickly, checked by the naive one where that reaches.

    None as well where rounding decides what CART does, and with it what the space is.
    """
    if case.n_rows > MOST_ROWS:
        return None
    quantile = case.parameter("candidates", "adaptive") == "quantile"
    problem = problem_of(case, library_grid(case) if quantile else None)
    # CART's scores are exact in doubles while the cube of the weight is.
    units = max(weight.as_integer_ratio()[1] for weight in problem.weights or [1.0])
    trusted = tolerance.exact and (tolerance.total * units) ** 3 < 2**53
    compiled = MaskOracle(problem)
    best = compiled.optimum(MAX_SPLITS)
    if math.isnan(best) or (compiled.near_ties and not trusted):
        return None
    if trusted and (1 + compiled.states) * _shape_functions(problem) <= MAX_NAIVE_SPLITS:
        naive = oracle.optimum(problem)
        if naive != best:
            raise AssertionError(f"the oracles disagree: {naive!r} and {best!r} for {problem!r}")
    return compiled


def _shape_functions(problem: Problem) -> int:
    """Return the number of splits that the naive oracle tries at a state of all rows."""
    counts = range(1, problem.max_changepoints + 1)
    return sum(math.comb(len(values), count) for values in problem.values for count in counts)


def _claims(fitted: Fit, tolerance: Tolerance, exact_values: MaskOracle) -> Iterator[str]:
    """Check what the nodes report about the best subtree on their rows."""
    case, read = fitted.case, Evaluator(fitted.tree.to_dict())
    kept = [row for row, weight in enumerate(tolerance.weights) if weight > 0]
    reached: dict[int, int] = {}
    for place, row in enumerate(kept):
        for node in read.path([column[row] for column in case.columns]):
            reached[node] = reached.get(node, 0) | 1 << place
    for node, rows in reached.items():
        depth_left = case.parameter("max_depth", 4) - read.depths[node]
        best = exact_values.value(rows, depth_left, MAX_SPLITS)
        claim = read.nodes[node]
        if claim["bound"] > best + tolerance.value:
            yield f"node: {node} claims a bound of {claim['bound']!r}, its best subtree costs {best!r}"
        if claim["proven"] and claim["cost"] > best + tolerance.value:
            yield f"node: {node} costs {claim['cost']!r} and claims a proof, the best costs {best!r}"


def _optimum(fitted: Fit, tolerance: Tolerance, best: float) -> Iterator[str]:
    case, last = fitted.case, fitted.reports[-1]
    for report in fitted.reports:
        if not report.lower_bound - tolerance.value <= best <= report.upper_bound + tolerance.value:
            yield f"optimum: it is {best!r}, a report has the bounds {_bounds(report)}"
            return
    if case.parameter("candidates", "") == "all" and last.objective < best - tolerance.value:
        yield f"optimum: it is {best!r} over every tree, the tree kept costs {last.objective!r}"
    if case.resumes and not last.proven_optimal:
        yield f"optimum: after {len(case.resumes)} resumes it ended {last.stop_reason}"


def library_grid(case: Case) -> list[list[int]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        table = build(
            frame(case),
            list(case.y),
            sample_weight=None if case.weights is None else np.array(case.weights),
            class_weight=case.parameter("class_weight", None),
            categories=case.parameter("categories", "ordered"),
        )
    return [positions.tolist() for positions in table.grid(case.parameter("candidate_leaves", 17))]
