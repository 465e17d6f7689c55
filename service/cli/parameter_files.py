"""The parameters of a search as documentation and as data for the web page's form."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from literati.estimator import definitions
from literati.search.parameters import Choice, LeafCounts, Parameter, Range
from worker.domain.parameters import Limits, Parameters, bounds

_HEAD = """\
# Parameters

`make openapi` writes this page from `core/literati/search/options.py`.

The search minimises the weight of the misclassified training rows, plus `split_penalty` for every split, plus
`changepoint_penalty` for every change point after the first one of a split. These are the parameters of
`LiteratiClassifier`. A job of the service takes the same ones, except `verbose` and `callback`: limits as
`limits`, all others as `parameters`.

| parameter | default | values | meaning |
|---|---|---|---|
"""


def parameters_markdown() -> str:
    """Return docs/parameters.md."""
    rows = [
        f"| `{name}` | `{entry.default!r}` | {entry.values} | {entry.sentences('`None`')} |\n"
        for name, entry in definitions().items()
    ]
    return _HEAD + "".join(rows)


def parameters_json() -> dict[str, Any]:
    """Return the parameters that a job has, with the bounds of the service, by group and name."""
    groups: dict[str, type[BaseModel]] = {"parameters": Parameters, "limits": Limits}
    defined = definitions()
    return {
        group: {name: _entry(defined[name]) for name in model.model_fields} for group, model in groups.items()
    }


def _entry(definition: Parameter) -> dict[str, Any]:
    values = definition.values.each if isinstance(definition.values, LeafCounts) else definition.values
    entry: dict[str, Any] = {"description": definition.description, "default": definition.default}
    if isinstance(values, Range):
        limits = {**values.bounds, **bounds(definition)}
        entry |= {"integer": values.type is int, "optional": values.optional, "unit": definition.unit}
        entry |= {"min": limits.get("ge", limits.get("gt")), "max": limits.get("le", limits.get("lt"))}
    if isinstance(values, Choice):
        entry["choices"] = values.meanings
    return entry
