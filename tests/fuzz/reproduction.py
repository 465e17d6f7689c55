"""Make a failing case smaller, and write it as a script."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tests.fuzz.cases import Case
from tests.fuzz.checks import LIMITS, examine

PATIENCE = 2.0  # seconds after which a case counts as endless while it is made smaller


def smaller(case: Case) -> Iterator[Case]:
    """Yield the case without some rows, columns, parameters, weights or resumes, large steps first."""
    size = case.n_rows // 2
    while size:
        for start in range(0, case.n_rows, size):
            kept = [row for row in range(case.n_rows) if not start <= row < start + size]
            if len({case.y[row] for row in kept}) > 1:
                yield case.but(
                    columns=tuple(tuple(column[row] for row in kept) for column in case.columns),
                    y=tuple(case.y[row] for row in kept),
                    weights=None if case.weights is None else tuple(case.weights[row] for row in kept),
                )
        size //= 2
    for place in range(len(case.columns)) if len(case.columns) > 1 else ():
        yield case.but(columns=case.columns[:place] + case.columns[place + 1 :])
    for name in case.parameters:
        yield case.but(parameters={key: value for key, value in case.parameters.items() if key != name})
    if case.weights is not None:
        yield case.but(weights=None)
    for place in range(len(case.resumes)):
        yield case.but(resumes=case.resumes[:place] + case.resumes[place + 1 :])


def minimal(case: Case, kind: str, seconds: float) -> Case:
    """Return the smallest case found in the time that breaks the same kind of promise."""
    until = time.monotonic() + seconds
    found = True
    while found:
        found = False
        for candidate in smaller(case):
            if time.monotonic() > until:
                return case
            if examine(candidate, PATIENCE).kind() == kind:
                case, found = candidate, True
                break
    return case


def script(case: Case) -> str:
    """Return a Python script that shows the failure without this package."""
    columns = {f"c{i}": list(column) for i, column in enumerate(case.columns)}
    weights = None if case.weights is None else list(case.weights)
    lines = [
        "import pandas as pd",
        "from literati import LiteratiClassifier, Search, SearchLimits",
        "",
        f"X = pd.DataFrame({columns!r})",
        f"y = {list(case.y)!r}",
        f"weights = {weights!r}",
    ]
    if not case.resumes:
        shown = ["stop_reason_", "lower_bound_", "upper_bound_", "objective_", "fit_seconds_"]
        return "\n".join(
            [
                *lines,
                f"model = LiteratiClassifier(**{case.parameters!r})",
                "model.fit(X, y, sample_weight=weights)",
                f"print({', '.join(f'model.{name}' for name in shown)})",
            ]
        )
    options = {name: value for name, value in case.parameters.items() if name not in LIMITS}
    return "\n".join(
        [
            *lines,
            "done, blob = 0, None",
            f"for more in {(*case.resumes, None)!r}:",
            "    limits = SearchLimits(max_expansions=None if more is None else max(1, done + more))",
            "    if blob is None:",
            f"        search = Search(X, y, sample_weight=weights, limits=limits, **{options!r})",
            "    else:",
            "        search = Search.resume(X, y, blob, sample_weight=weights, limits=limits)",
            "    report = search.run()",
            "    print(report)",
            "    done, blob = report.expansions, search.checkpoint()",
        ]
    )
