"""Changes to datasets: take back a deletion."""

from __future__ import annotations

from fastapi import APIRouter, Response

from service.conditional import json_answer
from service.dependencies import CallerDep, SettingsDep, StoreDep
from service.routes.datasets import DatasetId, dataset_view
from service.schemas import examples
from service.schemas.datasets import EXAMPLE, Dataset
from service.schemas.problem import problems

router = APIRouter(prefix="/v1/datasets", tags=["datasets"])


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
