"""Finished trees: list, look, draw, read, delete, and give them names."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from literati import __version__
from literati.nodes import is_beyond_space
from literati.report import relative_gap
from service.conditional import json_answer, matches, not_modified, strong_tag, tag_headers
from service.dependencies import CallerDep, ServicesDep, SettingsDep, StoreDep
from service.errors import not_found
from service.negotiation import MERGE_PATCH, strict_json
from service.query_options import CHECKED_OPTIONS
from service.routes.jobs import NoneMatch
from service.schemas import examples, model_examples
from service.schemas import models as wire
from service.schemas.labels import LabelsPatch
from service.schemas.problem import problems
from service.schemas.requests import PageSize, PageToken, body_of
from worker import messages

router = APIRouter(prefix="/v1/models", tags=["models"], dependencies=[CHECKED_OPTIONS])
_MODEL = re.compile(wire.MODEL)
_TAGGED = {"ETag": examples.header("Of the model with its name and notes; an alias may name another one.")}
_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client has it already (`If-None-Match`).", "headers": _TAGGED}
}


async def model_name(
    model: Annotated[
        str,
        Path(
            description="A model's id, or an alias.",
            json_schema_extra={"pattern": wire.MODEL},
            examples=[model_examples.MODEL_ID],
        ),
    ],
) -> str:
    """What can be neither is as absent as what is not there."""
    if not _MODEL.fullmatch(model):
        raise not_found("model")
    return model


ModelName = Annotated[str, Depends(model_name)]
ModelId = Annotated[
    str,
    Path(
        description="The model's id; an alias will not do.",
        json_schema_extra={"pattern": wire.MODEL_ID},
        examples=[model_examples.MODEL_ID],
    ),
]


def model_view(model: messages.Model) -> dict[str, Any]:
    return _shared(model) | {"parameters": model.parameters, "metrics": model.metrics}


def _shared(model: messages.ModelSummary) -> dict[str, Any]:
    here = f"/v1/models/{model.id}"
    return {
        **{name: value for name, value in model if name in wire.ModelSummary.model_fields},
        "metrics": model.scores,
        "gap_absolute": model.upper_bound - model.lower_bound,
        "gap_relative": relative_gap(model.upper_bound, model.lower_bound),
        "beyond_space": is_beyond_space(model.objective, model.upper_bound),
        "links": {
            "self": here,
            "tree_svg": f"{here}/tree.svg",
            "rules": f"{here}/rules",
            "predict": f"{here}/predict",
            "job": f"/v1/jobs/{model.job_id}",
        },
    }


@router.get(
    "",
    operation_id="list_models",
    summary="List models",
    response_model=wire.ModelPage,
    responses={
        200: examples.answer("A page of models.", model_examples.PAGE),
        **problems(422),
    },
)
def list_models(
    caller: CallerDep, store: StoreDep, page_size: PageSize = 50, page_token: PageToken = None
) -> Response:
    """Summaries, the newest first. Follow `next_page_token` for more."""
    page = store.models.list(caller.tenant, page_size=page_size, page_token=page_token)
    items = [wire.ModelSummary.model_construct(**_shared(model)) for model in page.items]
    return json_answer(wire.ModelPage.model_construct(items=items, next_page_token=page.next_page_token))


@router.get(
    "/{model}",
    operation_id="get_model",
    summary="Look at a model",
    response_model=wire.ModelWithTree,
    responses={
        200: examples.answer("The model.", model_examples.MODEL_WITH_TREE, headers=_TAGGED),
        **_NOT_MODIFIED,
        **problems(404),
    },
)
def get_model(
    request: Request, model: ModelName, caller: CallerDep, store: StoreDep, if_none_match: NoneMatch = None
) -> Response:
    """What it is, what is proven about it, and the tree itself."""
    found = store.models.get(caller.tenant, model)
    if found is None:
        raise not_found("model")
    tag = strong_tag("model", found.id, found.name, found.notes, __version__)
    if matches(request, tag):
        return not_modified(tag)
    tree = store.models.tree(caller.tenant, found.id)
    if tree is None:  # deleted a moment ago
        raise not_found("model")
    return json_answer(wire.ModelWithTree.model_construct(**model_view(found), tree=tree), tag=tag)


@router.get(
    "/{model}/tree.svg",
    operation_id="draw_model",
    summary="A picture of the tree",
    response_class=Response,
    responses={
        200: {
            "description": "The picture.",
            "headers": _TAGGED,
            "content": {"image/svg+xml": {"schema": {"type": "string"}, "example": "<svg>...</svg>"}},
        },
        **_NOT_MODIFIED,
        **problems(404, 422),
    },
)
async def draw_model(
    request: Request,
    model: ModelName,
    caller: CallerDep,
    services: ServicesDep,
    theme: Annotated[
        Literal["auto", "light", "dark"], Query(description="`auto`: what the viewer prefers.")
    ] = "auto",
    if_none_match: NoneMatch = None,
) -> Response:
    """Each node is a strip over its feature's range, coloured by side."""
    predictor = await services.predictors.of_model(caller.tenant, model)
    tag = strong_tag("svg", predictor.source["model_id"], __version__, theme)
    if matches(request, tag):
        return not_modified(tag)
    # A picture opened by itself is a page: its own style is all that it may have.
    headers = {**tag_headers(tag), "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return Response(predictor.tree.to_svg(theme), headers=headers, media_type="image/svg+xml")


@router.get(
    "/{model}/rules",
    operation_id="read_model",
    summary="The tree in words",
    response_class=Response,
    responses={
        200: {
            "description": "Rules to follow with a finger.",
            "headers": _TAGGED,
            "content": {"text/plain": {"schema": {"type": "string"}, "example": model_examples.RULES}},
        },
        **_NOT_MODIFIED,
        **problems(404),
    },
)
async def read_model(
    request: Request,
    model: ModelName,
    caller: CallerDep,
    services: ServicesDep,
    if_none_match: NoneMatch = None,
) -> Response:
    """What the tree asks, what it answers, and what is proven about it."""
    predictor = await services.predictors.of_model(caller.tenant, model)
    tag = strong_tag("rules", predictor.source["model_id"], __version__)
    if matches(request, tag):
        return not_modified(tag)
    return Response(predictor.tree.to_text(), headers=tag_headers(tag), media_type="text/plain")


@router.patch(
    "/{model}",
    operation_id="update_model",
    summary="Change a model's name or notes",
    response_model=wire.Model,
    openapi_extra=body_of(LabelsPatch, MERGE_PATCH, "application/json", note={"notes": "Signed off by Ada."}),
    responses={
        200: examples.answer("The model as it is now.", model_examples.MODEL),
        **problems(404, 415, 422),
    },
)
def update_model(
    model: ModelName,
    patch: Annotated[LabelsPatch, Depends(strict_json(LabelsPatch, MERGE_PATCH))],
    caller: CallerDep,
    store: StoreDep,
) -> Response:
    """A JSON merge patch (RFC 7396): fields that are left out stay, null takes away."""
    found = store.models.change(caller.tenant, model, patch.changes)
    return json_answer(wire.Model.model_construct(**model_view(found)))


@router.delete(
    "/{model}",
    operation_id="delete_model",
    summary="Delete a model",
    status_code=204,
    response_class=Response,
    responses={
        204: {"description": "It is gone."},
        **problems(404, 409, s409="An alias names it: move or delete the alias first."),
    },
)
def delete_model(model: ModelId, caller: CallerDep, store: StoreDep, settings: SettingsDep) -> Response:
    """The job that made it stays.

    It can be restored for a while (a day, unless the server's LITERATI_KEEP_DELETED_HOURS says otherwise).
    """
    store.models.delete(caller.tenant, model, keep=settings.keep_deleted_hours > 0)
    return Response(status_code=204)


@router.post(
    "/{model}/restore",
    operation_id="restore_model",
    summary="Take back the deletion of a model",
    response_model=wire.Model,
    responses={
        200: examples.answer("The model is there again, as it was.", model_examples.MODEL),
        **problems(
            404,
            409,
            s404="No such model was deleted, or it was too long ago.",
            s409="There are as many models as may be; delete others first.",
        ),
    },
)
def restore_model(model: ModelId, caller: CallerDep, store: StoreDep, settings: SettingsDep) -> Response:
    """A model that is not deleted is shown as it is."""
    found = store.models.restore(caller.tenant, model, most=settings.max_models)
    return json_answer(wire.Model.model_construct(**model_view(found)))
