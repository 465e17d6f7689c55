"""Routes of datasets: list, get, preview, update, delete and restore."""

from __future__ import annotations

from typing import Annotated

import pyarrow as pa
from fastapi import APIRouter, Depends, Query, Response

from service.datasets import schemas
from service.datasets.service import stored_dataset
from service.datasets.views import dataset_summary, dataset_view
from service.dependencies import BlobsDep, CallerDep, ServicesDep, SettingsDep, StoreDep
from service.examples import jobs as examples
from service.http.blob_deletion import discard
from service.http.etags import json_response
from service.http.media_types import MERGE_PATCH, strict_json
from service.http.strict_queries import CHECKED_OPTIONS
from service.schemas.fields import LabelsPatch
from service.schemas.parameters import PageSize, PageToken, body_of, path_name
from service.schemas.problems import problems, restore_problems

router = APIRouter(prefix="/v1/datasets", tags=["datasets"], dependencies=[CHECKED_OPTIONS])
MAX_PREVIEW_ROWS = 100
_dataset_id = path_name(
    "dataset", "dataset_id", schemas.DATASET_ID, "The id of the dataset.", schemas.EXAMPLE_ID
)
DatasetId = Annotated[str, Depends(_dataset_id)]


@router.get(
    "",
    operation_id="list_datasets",
    summary="List datasets",
    response_model=schemas.DatasetPage,
    responses={
        200: examples.answer("A page of datasets.", schemas.EXAMPLE_PAGE),
        **problems(422),
    },
)
def list_datasets(
    caller: CallerDep, store: StoreDep, page_size: PageSize = 50, page_token: PageToken = None
) -> Response:
    """List the datasets without their columns, the newest first. `next_page_token` leads to the next page."""
    page = store.datasets.list(caller.tenant, page_size=page_size, page_token=page_token)
    items = [dataset_summary(dataset) for dataset in page.items]
    token = page.next_page_token
    return json_response(schemas.DatasetPage.model_construct(items=items, next_page_token=token))


@router.get(
    "/{dataset_id}",
    operation_id="get_dataset",
    summary="Get a dataset",
    response_model=schemas.Dataset,
    responses={200: examples.answer("The dataset.", schemas.EXAMPLE), **problems(404)},
)
def get_dataset(dataset_id: DatasetId, caller: CallerDep, store: StoreDep) -> Response:
    """Get the columns with types, missing cells, ranges and categories, the classes, and the warnings."""
    return json_response(dataset_view(stored_dataset(store, caller.tenant, dataset_id)))


@router.get(
    "/{dataset_id}/preview",
    operation_id="preview_dataset",
    summary="Get the first rows of a dataset",
    response_model=schemas.Preview,
    responses={200: examples.answer("The first rows.", schemas.EXAMPLE_PREVIEW), **problems(404, 422)},
)
def preview_dataset(
    dataset_id: DatasetId,
    caller: CallerDep,
    store: StoreDep,
    blobs: BlobsDep,
    rows: Annotated[int, Query(ge=1, le=MAX_PREVIEW_ROWS, description="The maximum number of rows.")] = 10,
) -> Response:
    """Get the rows as they were read: numbers as numbers, missing cells as null."""
    dataset = stored_dataset(store, caller.tenant, dataset_id)
    with pa.memory_map(str(blobs.path(dataset.blob))) as file:
        table = pa.ipc.open_file(file).read_all().slice(0, rows)
        records = table.to_pylist()
    return json_response(
        schemas.Preview.model_construct(
            dataset_id=dataset.id, rows=dataset.rows, columns=table.column_names, records=records
        )
    )


@router.patch(
    "/{dataset_id}",
    operation_id="update_dataset",
    summary="Change a dataset's name or notes",
    response_model=schemas.Dataset,
    openapi_extra=body_of(LabelsPatch, MERGE_PATCH, "application/json", rename={"name": "flowers of 2026"}),
    responses={200: examples.answer("The changed dataset.", schemas.EXAMPLE), **problems(404, 415, 422)},
)
def update_dataset(
    dataset_id: DatasetId,
    patch: Annotated[LabelsPatch, Depends(strict_json(LabelsPatch, MERGE_PATCH))],
    caller: CallerDep,
    store: StoreDep,
) -> Response:
    """Apply a JSON merge patch (RFC 7396): fields that are left out do not change, null removes a value."""
    return json_response(dataset_view(store.datasets.change(caller.tenant, dataset_id, patch.changes)))


@router.delete(
    "/{dataset_id}",
    operation_id="delete_dataset",
    summary="Delete a dataset",
    status_code=204,
    response_class=Response,
    responses={
        204: {"description": "The dataset is deleted."},
        **problems(404, 409, s409="Jobs that have not ended use the dataset; cancel them first."),
    },
)
def delete_dataset(dataset_id: DatasetId, caller: CallerDep, services: ServicesDep) -> Response:
    """Delete a dataset. Jobs that have ended and their models are kept.

    The dataset can be restored for LITERATI_KEEP_DELETED_HOURS, a day by default. Its file is kept until
    then, unless an upload needs the space.
    """
    keep = services.settings.keep_deleted_hours > 0
    dataset = services.store.datasets.delete(caller.tenant, dataset_id, keep=keep)
    discard(services.store, services.blobs, dataset.blob)
    return Response(status_code=204)


@router.post(
    "/{dataset_id}/restore",
    operation_id="restore_dataset",
    summary="Restore a deleted dataset",
    response_model=schemas.Dataset,
    responses={
        200: examples.answer("The restored dataset.", schemas.EXAMPLE),
        **restore_problems("dataset", "number or size of datasets"),
    },
)
def restore_dataset(
    dataset_id: DatasetId, caller: CallerDep, store: StoreDep, settings: SettingsDep
) -> Response:
    """Restore a deleted dataset. A dataset that is not deleted is returned unchanged."""
    dataset = store.datasets.restore(
        caller.tenant, dataset_id, max_datasets=settings.max_datasets, max_bytes=settings.max_dataset_bytes
    )
    return json_response(dataset_view(dataset))
