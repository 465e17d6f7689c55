"""The route that exports the tree of a model to other languages and formats."""

from __future__ import annotations

from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Query, Request, Response

from literati import __version__
from literati.tree.export.conditions import ExportError
from literati.tree.export.formats import FORMATS, FormatName
from service.dependencies import CallerDep, ServicesDep
from service.examples import jobs as examples
from service.examples.exports import EXPORTS
from service.http.etags import matches, not_modified, strong_tag, tag_headers
from service.http.problems import FieldError, invalid
from service.http.remedies import in_query
from service.http.strict_queries import CHECKED_OPTIONS
from service.schemas.parameters import NOT_MODIFIED, ModelName, NoneMatch
from service.schemas.problems import problems

router = APIRouter(prefix="/v1/models", tags=["models"], dependencies=[CHECKED_OPTIONS])
MAX_CONCURRENT = 2  # exports; one of a large tree takes seconds and hundreds of megabytes
_threads = anyio.CapacityLimiter(MAX_CONCURRENT)
_ETAG = {"ETag": examples.header("The entity tag of the file.")}
_NAME = {"Content-Disposition": examples.header("The name of the file.")}


def _content(media_type: str) -> dict[str, Any]:
    """Describe the body of a response."""
    if media_type in EXPORTS:
        return {"schema": {"type": "string"}, "example": EXPORTS[media_type]}
    return {"schema": {"type": "string", "format": "binary"}}


@router.get(
    "/{model}/export",
    operation_id="export_model",
    summary="Export the tree",
    response_class=Response,
    responses={
        200: {
            "description": "The file.",
            "headers": {**_ETAG, **_NAME},
            "content": {form.media_type: _content(form.media_type) for form in FORMATS.values()},
        },
        304: {"description": NOT_MODIFIED, "headers": _ETAG},
        **problems(404, 422, s422="The format is unknown, or cannot express this tree exactly."),
    },
)
async def export_model(
    request: Request,
    model: ModelName,
    caller: CallerDep,
    services: ServicesDep,
    format: Annotated[FormatName, Query(description="The format of the file.")],
    if_none_match: NoneMatch = None,
) -> Response:
    """Export the tree as a file that predicts without Literati.

    `sql-...` is a query for a database. `python`, `javascript`, `c` and `java` are source files without
    dependencies. `onnx` and `pmml` are model files, and `mlflow` is a zip archive of a folder that MLflow
    loads, with Literati. Every file contains the id of the model, the SHA-256 of its JSON and what is proven.
    """
    predictor = await services.predictors.of_model(caller.tenant, model)
    model_id = predictor.source["model_id"]
    tag = strong_tag("export", model_id, format, __version__)
    if matches(request, tag):
        return not_modified(tag)
    chosen = FORMATS[format]
    try:
        async with services.bulk_predictions.slot(caller.tenant):
            content = await anyio.to_thread.run_sync(
                chosen.content, predictor.tree, model_id, limiter=_threads
            )
    except ExportError as error:
        fix = in_query("Export to Python", format=["python"])
        raise invalid(FieldError("/query/format", "NOT_EXACT", f"{error}."), fixes=[fix]) from None
    name = {"Content-Disposition": f'attachment; filename="{chosen.file_name}"'}
    return Response(content, headers=tag_headers(tag, name), media_type=chosen.media_type)
