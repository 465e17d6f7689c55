"""Parameters that several routes share, and how a route describes a body that it reads itself."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Depends, Path, Query
from pydantic import BaseModel

from service.errors import not_found
from service.schemas.jobs import JOB_ID

_JOB_ID = re.compile(JOB_ID)
EXAMPLE_JOB_ID = "job_0b54a1f0c9d84b0a8a8f6ce6b2c8d6f3"


async def _job_id(
    job_id: Annotated[
        str,
        Path(description="The job's id.", json_schema_extra={"pattern": JOB_ID}, examples=[EXAMPLE_JOB_ID]),
    ],
) -> str:
    """An id that cannot be one is as absent as one that is not there."""
    if not _JOB_ID.fullmatch(job_id):
        raise not_found("job")
    return job_id


JobId = Annotated[str, Depends(_job_id)]
PageSize = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
PageToken = Annotated[
    str | None, Query(min_length=1, max_length=512, description="`next_page_token` of the page before.")
]


def body_of(
    model: type[BaseModel], *kinds: str, required: bool = True, **examples: dict[str, Any]
) -> dict[str, Any]:
    """`openapi_extra` of a route that reads this model itself; `service.openapi` adds the schema.

    `kinds` are the media types that it reads; application/json if none is given.
    """
    content: dict[str, Any] = {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}
    if examples:
        content["examples"] = {name: {"value": value} for name, value in examples.items()}
    body = dict.fromkeys(kinds or ("application/json",), content)
    return {"requestBody": {"required": required, "content": body}}
