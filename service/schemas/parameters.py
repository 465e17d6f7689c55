"""Parameters and fields that several routes share, and the OpenAPI description of request bodies."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Query
from pydantic import BaseModel, Field

from service.http.problems import not_found

JOB_ID = r"^job_[0-9a-f]{32}$"
MODEL = r"^[a-z0-9][a-z0-9_.-]{0,63}$"  # an id or an alias: every id has the form of an alias
_JOB_ID = re.compile(JOB_ID)
_MODEL = re.compile(MODEL)
EXAMPLE_JOB_ID = "job_0b54a1f0c9d84b0a8a8f6ce6b2c8d6f3"
EXAMPLE_MODEL_ID = "mdl_5d0f3c1ab5e84c7f9a6b2e1d4c3f8a70"


async def _job_id(
    job_id: Annotated[
        str,
        Path(
            description="The id of the job.", json_schema_extra={"pattern": JOB_ID}, examples=[EXAMPLE_JOB_ID]
        ),
    ],
) -> str:
    """Respond with 404, not 422, to an id of a wrong form."""
    if not _JOB_ID.fullmatch(job_id):
        raise not_found("job")
    return job_id


async def model_name(
    model: Annotated[
        str,
        Path(
            description="The id or an alias of the model.",
            json_schema_extra={"pattern": MODEL},
            examples=[EXAMPLE_MODEL_ID],
        ),
    ],
) -> str:
    """Respond with 404, not 422, to a name of a wrong form."""
    if not _MODEL.fullmatch(model):
        raise not_found("model")
    return model


JobId = Annotated[str, Depends(_job_id)]
ModelName = Annotated[str, Depends(model_name)]
NoneMatch = Annotated[
    str | None,
    Header(alias="If-None-Match", description="The ETag of the client's version; 304 if it is current."),
]
NOT_MODIFIED = "The client's version is current (`If-None-Match`)."
PageSize = Annotated[int, Query(ge=1, le=200, description="The maximum number of items.")]
PageToken = Annotated[
    str | None, Query(min_length=1, max_length=512, description="The `next_page_token` of the previous page.")
]
NextPageToken = Annotated[
    str | None, Field(description="Send it as `page_token` to get the next page; null on the last page.")
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
