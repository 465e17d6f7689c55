"""The API's description: what the routes say, and what holds for all of them.

`python -m service.openapi` writes openapi/openapi.json and the JSON Schemas of trees and metrics beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel

from literati.model_schema import tree_definitions, tree_schema
from service.auth import is_open
from service.openapi_links import LINKS
from service.schemas.documents import DESCRIBED_BY
from service.schemas.jobs import FinishRequest, JobPatch, JobRequest
from service.schemas.labels import LabelsPatch
from service.schemas.metrics import Metrics, metrics_schema
from service.schemas.models import AliasRequest, Arrays, Records
from service.schemas.problem import ProblemDetails, problems
from service.schemas.tenants import TenantRequest

TARGET = Path(__file__).resolve().parent.parent / "openapi" / "openapi.json"
BODY_MODELS: tuple[type[BaseModel], ...] = (
    JobRequest,
    JobPatch,
    FinishRequest,
    LabelsPatch,
    AliasRequest,
    TenantRequest,
    Records,
    Arrays,
    ProblemDetails,
    Metrics,
)  # what routes name without FastAPI
_REF = "#/components/schemas/"
_METHODS = ("get", "put", "post", "delete", "patch")
DESCRIPTION = """\
Learns optimal shape-generalized decision trees. Upload a dataset, start a job, watch its upper and lower
bound meet, stop it when you like what you see, and predict.

Answers are compressed where `Accept-Encoding` asks for it (gzip, zstd).
Errors are problems (RFC 9457). In their pointers rows count from 0, as RFC 6901 has it; `row` and the
messages count from 1, the first row of data, in every format alike. Times are RFC 3339 in UTC. JSON never
carries NaN or Infinity: what is unknown is null. Where the server has API keys, send one as
`Authorization: Bearer lit_...`."""
_TAGS = [
    {"name": "datasets", "description": "Tables to learn from."},
    {"name": "jobs", "description": "Searches for the best tree of a dataset, anytime."},
    {"name": "models", "description": "Finished trees: look, explain, predict."},
    {"name": "tenants", "description": "Who takes turns for the workers, for administrators."},
    {"name": "system", "description": "Health, metrics, version."},
]


def install(app: FastAPI) -> None:
    """Make `app.openapi()` give the whole description; it is made once, when first asked for."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _describe(app)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


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
    """Put references in place of the parts that name the schema which describes them."""
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
    """FastAPI drops every null of the document, also from examples, where null means something."""
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
    """What every operation has, whether its route says so or not."""
    responses = operation["responses"]
    if "HTTPValidationError" in json.dumps(responses.get("422", {})):
        responses["422"] = problems(422)[422]
    common = [431, 500]
    if is_open(path):
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
    """A schema as requests are read. A part that answers show with all its fields gets another name."""
    schema = model.model_json_schema(ref_template=_REF + "{model}")
    parts = schema.pop("$defs", {})
    renamed = {name: f"{name}Input" for name in parts if name in schemas and schemas[name] != parts[name]}
    text = json.dumps({**parts, model.__name__: schema})
    for name, other in renamed.items():
        text = text.replace(f'"{_REF}{name}"', f'"{_REF}{other}"')
    for name, entry in json.loads(text).items():
        schemas[renamed.get(name, name)] = entry


def text() -> str:
    """The description as it is kept in the repository: the same on every machine."""
    from service.app import create_app
    from service.settings import Settings

    app = create_app(Settings(_env_file=None, api_keys_file=None))  # type: ignore[call-arg]
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def files() -> dict[Path, str]:
    """What `make openapi` writes."""
    schemas = {"tree.schema.json": tree_schema(), "metrics.schema.json": metrics_schema()}
    written = {TARGET.with_name(name): _pretty(schema) for name, schema in schemas.items()}
    return {TARGET: text(), **written}


def _pretty(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    TARGET.parent.mkdir(exist_ok=True)
    for path, content in files().items():
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
