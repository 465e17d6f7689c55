"""Parameters that several routes share, and the OpenAPI description of request bodies."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Query
from pydantic import BaseModel

from service.http.problems import not_found

JOB_ID = r"^job_[0-9a-f]{32}$"
SWEEP_ID = r"^swp_[0-9a-f]{32}$"
MODEL = r"^[a-z0-9][a-z0-9_.-]{0,63}$"  # an id or an alias: every id has the form of an alias
EXAMPLE_JOB_ID = "job_0b54a1f0c9d84b0a8a8f6ce6b2c8d6f3"
EXAMPLE_SWEEP_ID = "swp_3e9a7c5b1d2f4a6880b1c2d3e4f50617"
EXAMPLE_MODEL_ID = "mdl_5d0f3c1ab5e84c7f9a6b2e1d4c3f8a70"


def path_name(
    what: str, parameter: str, pattern: str, description: str, example: str
) -> Callable[[str], Coroutine[Any, Any, str]]:
    """Return a dependency on an id or name in the path. It responds with 404, not 422, to a wrong form."""
    has_form = re.compile(pattern).fullmatch
    schema = {"pattern": pattern}
    path = Path(alias=parameter, description=description, json_schema_extra=schema, examples=[example])

    async def check(name: str = path) -> str:
        if not has_form(name):
            raise not_found(what)
        return name

    return check


JobId = Annotated[str, Depends(path_name("job", "job_id", JOB_ID, "The id of the job.", EXAMPLE_JOB_ID))]
SweepId = Annotated[
    str, Depends(path_name("sweep", "sweep_id", SWEEP_ID, "The id of the sweep.", EXAMPLE_SWEEP_ID))
]
model_name = path_name("model", "model", MODEL, "The id or an alias of the model.", EXAMPLE_MODEL_ID)
ModelName = Annotated[str, Depends(model_name)]
TreeRevision = Annotated[
    int | None,
    Query(ge=1, le=1 << 53, description="The revision of the tree. By default the best tree so far."),
]
NoneMatch = Annotated[
    str | None,
    Header(alias="If-None-Match", description="The ETag of the client's version; 304 if it is current."),
]
Prefer = Annotated[
    str | None,
    Header(alias="Prefer", description="`wait=N`: wait up to N seconds for a change (maximum 60)."),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[!-~]+$",
        description="Any key. For a day, the same key with the same body returns the same record.",
    ),
]
NOT_MODIFIED = "The client's version is current (`If-None-Match`)."
PageSize = Annotated[int, Query(ge=1, le=200, description="The maximum number of items.")]
PageToken = Annotated[
    str | None, Query(min_length=1, max_length=512, description="The `next_page_token` of the previous page.")
]


def body_of(
    model: type[BaseModel], *kinds: str, required: bool = True, **examples: dict[str, Any]
) -> dict[str, Any]:
    """Return the `openapi_extra` of a route that reads the body itself; `service.openapi` adds the schema.

    `kinds` are the media types of the body; application/json by default.
    """
    content: dict[str, Any] = {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}
    if examples:
        content["examples"] = {name: {"value": value} for name, value in examples.items()}
    body = dict.fromkeys(kinds or ("application/json",), content)
    return {"requestBody": {"required": required, "content": body}}
