"""Parameters of a search that the library or the dataset does not allow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from literati.search.options import SolverOptions
from literati.suggestions import did_you_mean, nearest
from service.checks.issues import Issue, issue, sentence
from service.http.remedies import in_body
from worker.domain.datasets import Dataset, label_text
from worker.domain.parameters import Parameters

# The library's messages end with the value, which a problem must not contain.
_LIBRARY_ERROR = re.compile(r"(?P<name>\w+): (?P<message>.*?)(?:, got .*)?", re.DOTALL)


@dataclass(frozen=True)
class LibraryError:
    """What the library does not accept. `name` is the parameter; None if it is not known."""

    name: str | None
    message: str


def solver_options(parameters: Parameters) -> SolverOptions:
    """Return the options of the library. Raise TypeError or ValueError if it does not accept them."""
    return SolverOptions(**{**parameters.model_dump(), "class_weight": None})


def library_error(parameters: Parameters) -> LibraryError | None:
    """Return the error that the library has with the parameters; it has more rules than the schema."""
    try:
        solver_options(parameters)
    except (TypeError, ValueError) as error:
        match = _LIBRARY_ERROR.fullmatch(str(error))
        if match is None or match["name"] not in Parameters.model_fields:
            return LibraryError(None, "These parameters cannot be used together.")
        return LibraryError(match["name"], sentence(match["message"]))
    return None


def class_weight_issues(weights: Any, dataset: Dataset, *path: str) -> list[Issue]:
    """Return an issue for each weight of a class that the dataset does not have. `path` holds the weights."""
    if not isinstance(weights, dict):
        return []
    known = {label_text(entry.label): None for entry in dataset.classes}
    free = [label for label in known if label not in weights]
    found = []
    for label in weights:
        if label not in known:
            near = nearest(label, free)
            fixes = [
                in_body("Remove this weight", *path, label, value=None),
                in_body("Train without class weights", *path, value=None),
            ]
            for meant in near:
                renamed = {label: None, meant: weights[label]}
                fixes.insert(0, in_body(f"Use the weight for {meant!r}", *path, value=renamed))
            message = f"The dataset has no such class.{did_you_mean(map(repr, near))}"
            found.append(issue((*path, label), "NOT_A_CLASS", message, *fixes))
    return found
