"""Datasets: upload, list, look, delete."""

from __future__ import annotations

import asyncio
import errno
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, Any

import pyarrow as pa
import structlog
from fastapi import APIRouter, Depends, Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from service.conditional import json_answer
from service.dependencies import BlobsDep, CallerDep, Services, ServicesDep, StoreDep
from service.discarding import discard
from service.errors import FieldError, Problem, invalid, not_found, pointer, unavailable
from service.ingest import errand
from service.ingest.build import Upload
from service.ingest.errors import TOO_LARGE, IngestError, pointer_parts
from service.ingest.fixes import as_options
from service.ingest.options import Options, TableLimits, content_key
from service.ingest.query import upload_options
from service.ingest.receiving import received
from service.query_options import CHECKED_OPTIONS
from service.remedies import Remedy
from service.schemas import examples
from service.schemas.datasets import (
    DATASET_ID,
    EXAMPLE,
    EXAMPLE_ID,
    EXAMPLE_PREVIEW,
    EXAMPLE_SUMMARY,
    UPLOAD,
    Dataset,
    DatasetPage,
    DatasetSummary,
    Preview,
)
from service.schemas.problem import ProblemFix, problems
from service.schemas.requests import PageSize, PageToken
from service.settings import Settings
from service.turns import Turns
from worker import messages
from worker.bucket import BucketAwayError
from worker.errors import LimitReachedError
from worker.messages import new_id
from worker.store import Store

log = structlog.get_logger(__name__)
router = APIRouter(prefix="/v1/datasets", tags=["datasets"], dependencies=[CHECKED_OPTIONS])
MOST_PREVIEWED = 100
Made = tuple[messages.Dataset, bool]  # and whether it is new
_DATASET_ID = re.compile(DATASET_ID)
# A large table that is read takes all cores and its size in memory: no more than two at once. A small upload
# takes a moment, so it does not wait for large ones; if it unpacks to much, it is read again as a large one.
SMALL_BYTES = 1 << 20
LARGE_AT_ONCE, SMALL_AT_ONCE = 2, 3
_parsers = ThreadPoolExecutor(LARGE_AT_ONCE + SMALL_AT_ONCE, "parse")


async def _dataset_id(
    dataset_id: Annotated[
        str,
        Path(
            description="The dataset's id.", json_schema_extra={"pattern": DATASET_ID}, examples=[EXAMPLE_ID]
        ),
    ],
) -> str:
    """An id that cannot be one is as absent as one that is not there."""
    if not _DATASET_ID.fullmatch(dataset_id):
        raise not_found("dataset")
    return dataset_id


DatasetId = Annotated[str, Depends(_dataset_id)]


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
                "The same bytes with the same options were uploaded before: that dataset.",
                EXAMPLE,
                headers={"Location": examples.header("The dataset's address.")},
            ),
        },
        201: examples.answer(
            "The dataset is stored.",
            EXAMPLE,
            headers={"Location": examples.header("The dataset's address.")},
        ),
        **problems(
            409,
            415,
            422,
            s409="There are as many datasets, or bytes of them, as may be.",
            s415="No table in a form that is read here.",
            s422="The table or an option cannot be used; `errors` says what, with row and column, and "
            "`fixes` what to do about it where that is a matter of options.",
        ),
    },
)
async def create_dataset(
    request: Request,
    options: Annotated[Options, Depends(upload_options)],
    caller: CallerDep,
    services: ServicesDep,
) -> Response:
    """CSV, tab-separated text, Parquet, an Arrow stream or file, or any of them as the part `file` of a form.

    Without a Content-Type that names one of them, the first bytes decide. A body may be packed with gzip or
    zstd, with or without a Content-Encoding; the limits of an upload apply to what it unpacks to.
    Every column is taken as numbers, booleans or categories; types of a CSV are inferred over all its rows.
    Uploading the same bytes with the same options again gives the same dataset.
    """
    try:
        async with received(request, services.blobs, services.settings.min_free_bytes) as upload:
            key = content_key(upload.sha256, upload.form, upload.charset, upload.coding, options)
            known = await run_in_threadpool(services.store.datasets.find, caller.tenant, key)
            if known is not None:
                return _answer(known, 200)
            await run_in_threadpool(_check_room, services, caller.tenant)
            make = partial(_make, upload, options, services, caller.tenant, key)
            made = None
            if upload.size <= SMALL_BYTES:
                made = await _in_turn(services.small_uploads, caller.tenant, partial(make, quick=True))
            if made is None:
                made = await _in_turn(services.large_uploads, caller.tenant, make)
    except IngestError as error:
        raise _refusal(error, options) from None
    except BucketAwayError:
        raise  # no matter of the disk
    except OSError as error:
        log.error("upload not stored", error=repr(error))
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        raise unavailable(_full(services.settings) if full else "The disk cannot be written.") from None
    assert made is not None
    dataset, created = made
    return _answer(dataset, 201 if created else 200)


async def _in_turn(turns: Turns, tenant: str, make: Callable[[], Made | None]) -> Made | None:
    async with turns.slot(tenant):
        return await asyncio.get_running_loop().run_in_executor(_parsers, make)


def _full(settings: Settings) -> str:
    spare = f"{settings.min_free_bytes:,} bytes of it are left to others (LITERATI_MIN_FREE_BYTES)"
    return f"The disk is full; {spare}."


def _make(
    upload: Upload, options: Options, services: Services, tenant: str, key: str, *, quick: bool = False
) -> Made | None:
    """Read and store an upload. None if it was to be read quickly and is not small after all."""
    settings, store = services.settings, services.store
    limits = TableLimits(
        settings.max_rows,
        settings.max_columns,
        settings.max_cell_bytes,
        settings.max_categories,
        settings.max_table_bytes,
        settings.max_upload_bytes,
    )
    wanted = errand.Errand(
        upload,
        options,
        limits,
        services.blobs.folder,
        dataset_id=new_id("ds"),
        tenant=tenant,
        seconds=settings.max_parse_seconds,
        spare_disk_bytes=settings.min_free_bytes,
    )
    dataset = (errand.run_quickly if quick else errand.run)(services.apart, wanted)
    if dataset is None:
        return None
    services.blobs.publish(dataset.blob)
    try:
        stored = store.datasets.add(
            dataset, content_key=key, most=settings.max_datasets, most_bytes=settings.max_dataset_bytes
        )
    except LimitReachedError:
        discard(store, services.blobs, dataset.blob)
        raise
    if stored.id != dataset.id:  # the same upload came twice at once, and the other one was first
        discard(store, services.blobs, dataset.blob)
    return stored, stored.id == dataset.id


def _check_room(services: Services, tenant: str) -> None:
    """Before a table is read in vain; the store has the last word."""
    count, size = services.store.datasets.usage(tenant)
    if count >= services.settings.max_datasets:
        raise LimitReachedError("datasets")
    if size >= services.settings.max_dataset_bytes:
        raise LimitReachedError("dataset_bytes")


def _refusal(error: IngestError, options: Options) -> Problem:
    if error.faults[0].code == TOO_LARGE:
        return Problem(413, error.faults[0].message, kind="body-too-large")
    found = [FieldError(pointer(*pointer_parts(fault)), fault.code, fault.message) for fault in error.faults]
    fixes = [Remedy(fix.label, as_options(fix, options.drop, options.types)) for fix in error.fixes]
    return invalid(*found, detail=error.faults[0].message, fixes=fixes)


def _answer(dataset: messages.Dataset, status: int) -> Response:
    return json_answer(
        dataset_view(dataset), status=status, headers={"Location": f"/v1/datasets/{dataset.id}"}
    )


def _summary(dataset: messages.DatasetSummary) -> dict[str, Any]:
    address = f"/v1/datasets/{dataset.id}"
    return {
        **{name: value for name, value in dataset if name != "tenant"},
        "links": {"self": address, "preview": f"{address}/preview", "jobs": "/v1/jobs"},
    }


def dataset_view(dataset: messages.Dataset) -> Dataset:
    more = {name: getattr(dataset, name) for name in ("dropped", "columns", "classes", "warnings")}
    fixes = [ProblemFix(label=fix.label, options=fix.options, part="query") for fix in dataset.fixes]
    return Dataset.model_construct(**_summary(dataset.summary), **more, fixes=fixes)


@router.get(
    "",
    operation_id="list_datasets",
    summary="List datasets",
    response_model=DatasetPage,
    responses={
        200: examples.answer("A page of datasets.", {"items": [EXAMPLE_SUMMARY], "next_page_token": None}),
        **problems(422),
    },
)
def list_datasets(
    caller: CallerDep, store: StoreDep, page_size: PageSize = 50, page_token: PageToken = None
) -> Response:
    """The newest first, without their columns. Follow `next_page_token` for more."""
    page = store.datasets.list(caller.tenant, page_size=page_size, page_token=page_token)
    items = [DatasetSummary.model_construct(**_summary(dataset)) for dataset in page.items]
    return json_answer(DatasetPage.model_construct(items=items, next_page_token=page.next_page_token))


@router.get(
    "/{dataset_id}",
    operation_id="get_dataset",
    summary="Look at a dataset",
    response_model=Dataset,
    responses={200: examples.answer("The dataset.", EXAMPLE), **problems(404)},
)
def get_dataset(dataset_id: DatasetId, caller: CallerDep, store: StoreDep) -> Response:
    """Its columns with types, missing cells, ranges and categories; its classes; what is odd about it."""
    return json_answer(dataset_view(_stored(store, caller.tenant, dataset_id)))


def _stored(store: Store, tenant: str, dataset_id: str) -> messages.Dataset:
    dataset = store.datasets.get(tenant, dataset_id)
    if dataset is None:
        raise not_found("dataset")
    return dataset


@router.get(
    "/{dataset_id}/preview",
    operation_id="preview_dataset",
    summary="The first rows of a dataset",
    response_model=Preview,
    responses={200: examples.answer("The first rows.", EXAMPLE_PREVIEW), **problems(404, 422)},
)
def preview_dataset(
    dataset_id: DatasetId,
    caller: CallerDep,
    store: StoreDep,
    blobs: BlobsDep,
    rows: Annotated[int, Query(ge=1, le=MOST_PREVIEWED, description="How many at most.")] = 10,
) -> Response:
    """As they were understood: numbers as numbers, missing cells as null."""
    dataset = _stored(store, caller.tenant, dataset_id)
    with pa.memory_map(str(blobs.path(dataset.blob))) as file:
        table = pa.ipc.open_file(file).read_all().slice(0, rows)
        records = table.to_pylist()
    return json_answer(
        Preview.model_construct(
            dataset_id=dataset.id, rows=dataset.rows, columns=table.column_names, records=records
        )
    )


@router.delete(
    "/{dataset_id}",
    operation_id="delete_dataset",
    summary="Delete a dataset",
    status_code=204,
    response_class=Response,
    responses={
        204: {"description": "It is gone."},
        **problems(404, 409, s409="Jobs that have not ended use it: cancel them first."),
    },
)
def delete_dataset(dataset_id: DatasetId, caller: CallerDep, services: ServicesDep) -> Response:
    """Jobs that have ended and their models stay.

    It can be restored for a while (a day, unless the server's LITERATI_KEEP_DELETED_HOURS says otherwise).
    Until then its bytes stay on the disk, but give way to uploads for which there would be no room.
    """
    keep = services.settings.keep_deleted_hours > 0
    dataset = services.store.datasets.delete(caller.tenant, dataset_id, keep=keep)
    discard(services.store, services.blobs, dataset.blob)
    return Response(status_code=204)
