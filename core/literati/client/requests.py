"""Bodies of requests that start jobs and sweeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from literati.client.call import given
from literati.data.labels import plain
from literati.search.options import SearchLimits


def job_request(dataset_id: str, parameters: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the body that starts a job. The server checks the parameters, also those unknown here."""
    values = {name: json_value(value) for name, value in parameters.items()}
    limits = {name: values.pop(name) for name in SearchLimits.definitions() if name in values}
    request = {"dataset_id": dataset_id, "parameters": values, "limits": limits, **given(fields)}
    return {name: value for name, value in request.items() if value != {}}


def json_value(value: Any) -> Any:
    """Return a parameter as JSON data."""
    if isinstance(value, Mapping):
        return {label_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple) or hasattr(value, "tolist"):
        items = value.tolist() if hasattr(value, "tolist") else value
        return [plain(item) for item in items] if isinstance(items, list | tuple) else items
    return value


def label_key(label: Any) -> str:
    """Return a class as the keys of `class_weight` spell it."""
    label = plain(label)
    return str(label).lower() if isinstance(label, bool) else str(label)
