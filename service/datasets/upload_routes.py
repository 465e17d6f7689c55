"""The route that uploads a dataset."""

from __future__ import annotations

import errno
from typing import Annotated

import structlog
from fastapi import APIRouter, Depends, Request, Response

from service.datasets import service
from service.datasets.schemas import EXAMPLE, UPLOAD, Dataset
from service.datasets.views import dataset_view
from service.dependencies import CallerDep, ServicesDep
from service.examples import jobs as examples
from service.http.etags import json_response
from service.http.problems import FieldError, Problem, invalid, pointer, unavailable
from service.http.remedies import Remedy
from service.http.strict_queries import CHECKED_OPTIONS
from service.ingest.errors import TOO_LARGE, IngestError, pointer_parts, row_of
from service.ingest.fixes import as_options
from service.ingest.options import Options
from service.ingest.query import upload_options
from service.ingest.receive import receive_upload
from service.schemas.problems import problems
from worker.blobs.s3 import BucketUnavailableError

log = structlog.get_logger(__name__)
router = APIRouter(prefix="/v1/datasets", tags=["datasets"], dependencies=[CHECKED_OPTIONS])
_LOCATION = {"Location": examples.header("The URL of the dataset.")}


@router.post(
    "",
    operation_id="create_dataset",
    summary="Upload a dataset",
    status_code=201,
    response_model=Dataset,
    openapi_extra=UPLOAD,
    responses={
        200: {
            "model": Dataset,
            **examples.answer(
                "The same bytes were uploaded with the same options before; this is that dataset.",
                EXAMPLE,
                headers=_LOCATION,
            ),
        },
        201: examples.answer("The dataset is stored.", EXAMPLE, headers=_LOCATION),
        **problems(
            409,
            415,
            422,
            s409="The maximum number or size of datasets is reached.",
            s415="The body is not a table in a supported format.",
            s422="The table or an option cannot be used. `errors` names the row and the column, and `fixes` "
            "lists options that avoid the error.",
        ),
    },
)
async def create_dataset(
    request: Request,
    options: Annotated[Options, Depends(upload_options)],
    caller: CallerDep,
    services: ServicesDep,
) -> Response:
    """Upload a table as CSV, tab-separated text, Parquet, an Arrow stream or an Arrow file.

    The table can also be the part `file` of a multipart form. Without a Content-Type of one of these formats,
    the first bytes decide. The body may be compressed with gzip or zstd, with or without a Content-Encoding;
    the size limit applies to the decompressed body.

    Every column is read as numbers, booleans or categories; the types of a CSV are inferred from all rows.
    Uploading the same bytes with the same options again returns the same dataset.
    """
    try:
        async with receive_upload(request, services.blobs, services.settings.min_free_bytes) as upload:
            dataset, is_new = await service.create_dataset(upload, options, services, caller.tenant)
    except IngestError as error:
        raise _problem(error, options) from None
    except BucketUnavailableError:
        raise  # not an error of the disk
    except OSError as error:
        log.error("upload not stored", error=repr(error))
        detail = "The disk cannot be written."
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            reserve = f"{services.settings.min_free_bytes:,} bytes"
            detail = f"The disk is full; {reserve} are reserved (LITERATI_MIN_FREE_BYTES)."
        raise unavailable(detail) from None
    headers = {"Location": f"/v1/datasets/{dataset.id}"}
    return json_response(dataset_view(dataset), status=201 if is_new else 200, headers=headers)


def _problem(error: IngestError, options: Options) -> Problem:
    first = error.issues[0]
    if first.code == TOO_LARGE:
        return Problem(413, first.message, kind="body-too-large")
    errors = [
        FieldError(pointer(*pointer_parts(issue)), issue.code, issue.message, row_of(issue))
        for issue in error.issues
    ]
    fixes = [Remedy(fix.label, as_options(fix, options.drop, options.types)) for fix in error.fixes]
    return invalid(*errors, detail=first.message, fixes=fixes)
