"""The OpenAPI document: the descriptions of the routes, and what applies to all of them.

`python -m service.write_openapi` writes it to openapi/openapi.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel

from literati.tree.model_schema import tree_definitions
from service.auth.authentication import is_public
from service.jobs.schemas import FinishRequest, JobPatch, JobRequest
from service.models.schemas import AliasRequest, ModelPatch, ModelRequest
from service.openapi_links import LINKS
from service.predict.schemas import Arrays, Records
from service.protocols.schemas import InferenceRequest, MlflowRequest
from service.schemas.fields import DESCRIBED_BY, LabelsPatch
from service.schemas.metrics import Metrics
from service.schemas.problems import ProblemDetails, problems
from service.sweeps.schemas import ExtendRequest, SweepPatch, SweepRequest
from service.tenants.schemas import TenantRequest

BODY_MODELS: tuple[type[BaseModel], ...] = (
    JobRequest,
    JobPatch,
    FinishRequest,
    SweepRequest,
    SweepPatch,
    ExtendRequest,
    LabelsPatch,
    ModelPatch,
    ModelRequest,
    AliasRequest,
    TenantRequest,
    Records,
    Arrays,
    InferenceRequest,
    MlflowRequest,
    ProblemDetails,
    Metrics,
)  # models of bodies that the routes read without FastAPI
_REF = "#/components/schemas/"
_METHODS = ("get", "put", "post", "delete", "patch")
DESCRIPTION = """\
Learn optimal shape-generalized decision trees. Upload a dataset, start a job, follow its upper and lower
bound until they meet or stop it early, and predict with the best tree.

Responses are compressed if `Accept-Encoding` allows it (gzip, zstd). Errors are problem details (RFC 9457).
Their pointers count rows from 0 (RFC 6901); `row` and the messages count from 1, the first row of data.
Times are RFC 3339 in UTC. JSON never contains NaN or Infinity; unknown values are null. If the server has
API keys, send one as `Authorization: Bearer lit_...`."""
_TAGS = [
    {"name": "datasets", "description": "Tables to learn from."},
    {"name": "jobs", "description": "Anytime searches for the optimal tree of a dataset."},
    {"name": "sweeps", "description": "Searches for the parameters with the best trees on new rows."},
    {"name": "models", "description": "Learned trees: inspect, explain and predict."},
    {
        "name": "protocols",
        "description": "Predict with the protocols of other servers: Open Inference Protocol, MLflow.",
    },
    {"name": "tenants", "description": "Shares of the tenants in the workers, for administrators."},
    {"name": "system", "description": "Health, metrics, version."},
]


def install(app: FastAPI) -> None:
    """Make `app.openapi()` return the complete document. It is built with the first call."""
    app.openapi = cache(partial(_describe, app))  # type: ignore[method-assign]


def _describe(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=DESCRIPTION,
        routes=app.routes,
        tags=_TAGS,
        license_info={"name": "MIT", "identifier": "MIT"},
    )
    _restore_examples(document, app)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for model in BODY_MODELS:
        _add_schema(schemas, model)
    schemas.update(tree_definitions(_REF))
    _refer(schemas)
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    document["components"]["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "An API key, `lit_...`."}
    }
    document["security"] = [{"key": []}]
    for path, method, operation in operations(document):
        _complete(operation, path, method)
    return document


def _refer(entry: Any) -> None:
    """Replace the parts that name a schema by references to it."""
    if isinstance(entry, list):
        for part in entry:
            _refer(part)
    elif isinstance(entry, dict):
        if (name := entry.pop(DESCRIBED_BY, None)) is not None:
            kept = {"description": entry["description"]} if "description" in entry else {}
            entry.clear()
            entry.update({"$ref": _REF + name, **kept})
        for part in entry.values():
            _refer(part)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                yield path, method, item[method]


def _restore_examples(document: dict[str, Any], app: FastAPI) -> None:
    """Copy the examples of the routes again, because FastAPI drops the nulls in them."""
    for route in app.routes:
        if not isinstance(route, APIRoute) or not route.include_in_schema:
            continue
        for method in route.methods or ():
            operation = document["paths"][route.path_format][method.lower()]
            body = (route.openapi_extra or {}).get("requestBody", {})
            _copy_examples(body, operation.get("requestBody", {}))
            for status, response in route.responses.items():
                _copy_examples(response, operation["responses"][str(status)])


def _copy_examples(source: dict[str, Any], target: dict[str, Any]) -> None:
    for kind, media in source.get("content", {}).items():
        for name in ("example", "examples"):
            if name in media:
                target["content"][kind][name] = media[name]


def _complete(operation: dict[str, Any], path: str, method: str) -> None:
    """Add the security, the common errors and the links of an operation."""
    responses = operation["responses"]
    if "HTTPValidationError" in json.dumps(responses.get("422", {})):
        responses["422"] = problems(422)[422]
    common = [431, 500]
    if is_public(path):
        operation["security"] = []
    else:
        common += [401, 403, 429, 503]
    if "requestBody" in operation:
        common += [400, 408, 413]
    for status, response in problems(*common).items():
        responses.setdefault(str(status), response)
    operation["responses"] = dict(sorted(responses.items()))
    for status, links in LINKS.get(operation["operationId"], {}).items():
        responses[status]["links"] = links


def _add_schema(schemas: dict[str, Any], model: type[BaseModel]) -> None:
    """Add the schema of a body. A part that differs from the schema of responses is named `...Input`."""
    schema = model.model_json_schema(ref_template=_REF + "{model}")
    parts = schema.pop("$defs", {})
    renamed = {name: f"{name}Input" for name in parts if name in schemas and schemas[name] != parts[name]}
    text = json.dumps({**parts, model.__name__: schema})
    for name, other in renamed.items():
        text = text.replace(f'"{_REF}{name}"', f'"{_REF}{other}"')
    for name, entry in json.loads(text).items():
        schemas[renamed.get(name, name)] = entry
