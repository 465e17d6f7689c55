"""Changes to datasets: name and notes, and taking back a deletion."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from service.conditional import json_answer
from service.dependencies import CallerDep, SettingsDep, StoreDep
from service.negotiation import MERGE_PATCH, strict_json
from service.routes.datasets import DatasetId, dataset_view
from service.schemas import examples
from service.schemas.datasets import EXAMPLE, Dataset
from service.schemas.labels import LabelsPatch
from service.schemas.problem import problems
from service.schemas.requests import body_of

router = APIRouter(prefix="/v1/datasets", tags=["datasets"])


@router.patch(
    "/{dataset_id}",
    operation_id="update_dataset",
    summary="Change a dataset's name or notes",
    response_model=Dataset,
    openapi_extra=body_of(LabelsPatch, MERGE_PATCH, "application/json", rename={"name": "flowers of 2026"}),
    responses={200: examples.answer("The dataset as it is now.", EXAMPLE), **problems(404, 415, 422)},
)
def update_dataset(
    dataset_id: DatasetId,
    patch: Annotated[LabelsPatch, Depends(strict_json(LabelsPatch, MERGE_PATCH))],
    caller: CallerDep,
    store: StoreDep,
) -> Response:
    """A JSON merge patch (RFC 7396): fields that are left out stay, null takes away."""
    return json_answer(dataset_view(store.datasets.change(caller.tenant, dataset_id, patch.changes)))


@router.post(
    "/{dataset_id}/restore",
    operation_id="restore_dataset",
    summary="Take back the deletion of a dataset",
    response_model=Dataset,
    responses={
        200: examples.answer("The dataset is there again, as it was.", EXAMPLE),
        **problems(
            404,
            409,
            s404="No such dataset was deleted, or it was too long ago.",
            s409="There are as many datasets, or bytes of them, as may be; delete others first.",
        ),
    },
)
def restore_dataset(
    dataset_id: DatasetId, caller: CallerDep, store: StoreDep, settings: SettingsDep
) -> Response:
    """A dataset that is not deleted is shown as it is."""
    dataset = store.datasets.restore(
        caller.tenant, dataset_id, most=settings.max_datasets, most_bytes=settings.max_dataset_bytes
    )
    return json_answer(dataset_view(dataset))
