"""The route that makes a model of a tree of a job."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from service.dependencies import CallerDep, SettingsDep, StoreDep
from service.examples import jobs as examples
from service.examples import models as model_examples
from service.http.etags import json_response
from service.http.media_types import strict_json
from service.models.schemas import Model, ModelRequest
from service.models.views import model_view
from service.schemas.parameters import JobId, body_of
from service.schemas.problems import problems

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])
_LOCATION = {"Location": examples.header("The URL of the model.")}


@router.post(
    "/{job_id}/models",
    operation_id="create_model",
    summary="Make a model of a tree of a job",
    status_code=201,
    response_model=Model,
    openapi_extra=body_of(ModelRequest, earlier_tree={"revision": 2}),
    responses={
        200: examples.answer(
            "The model that the tree has already.", model_examples.MODEL, headers=_LOCATION, model=Model
        ),
        201: examples.answer("The new model.", model_examples.MODEL, headers=_LOCATION),
        **problems(
            404,
            409,
            415,
            422,
            s409="The maximum number of models is reached; delete some.",
            s422="The job has no tree of this revision, or it is not kept any more.",
        ),
    },
)
def create_model(
    job_id: JobId,
    body: Annotated[ModelRequest, Depends(strict_json(ModelRequest))],
    caller: CallerDep,
    store: StoreDep,
    settings: SettingsDep,
) -> Response:
    """Make a model of any tree of a job that is kept, whether the job still runs or has ended.

    The job does not change: a search goes on, and `model_id` stays the model that the job itself made. The
    model has the metrics of the tree and the bounds that are known now. It is proven optimal only if its
    cost is not above the lower bound; otherwise its stop reason is `USER_FINISH`. When a job that runs ends,
    it makes a model of its own, with its last bounds, even if the best tree has one already.
    """
    made = store.models.make(caller.tenant, job_id, body.revision, max_models=settings.max_models)
    headers = {"Location": f"/v1/models/{made.model.id}"}
    return json_response(model_view(made.model), status=201 if made.created else 200, headers=headers)
