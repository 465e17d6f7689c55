"""Routes of models: list, get, draw, update, delete and restore."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from literati import __version__
from service.checks.labels import patched_fields
from service.dependencies import CallerDep, ServicesDep, SettingsDep, StoreDep
from service.examples import jobs as examples
from service.examples import models as model_examples
from service.http.etags import json_response, matches, not_modified, strong_tag, tag_headers
from service.http.media_types import MERGE_PATCH, strict_json
from service.http.problems import not_found
from service.http.strict_queries import CHECKED_OPTIONS
from service.models import schemas
from service.models.views import model_summary, model_view, model_with_tree
from service.schemas.fields import DATASET_ID
from service.schemas.parameters import NOT_MODIFIED, ModelName, NoneMatch, PageSize, PageToken, body_of
from service.schemas.problems import problems, restore_problems

router = APIRouter(prefix="/v1/models", tags=["models"], dependencies=[CHECKED_OPTIONS])
_ETAG = {"ETag": examples.header("The entity tag of the model with its name, notes and tags.")}
_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": NOT_MODIFIED, "headers": _ETAG}}


ModelId = Annotated[
    str,
    Path(
        description="The id of the model. An alias is not allowed.",
        json_schema_extra={"pattern": schemas.MODEL_ID},
        examples=[model_examples.MODEL["id"]],
    ),
]


@router.get(
    "",
    operation_id="list_models",
    summary="List models",
    response_model=schemas.ModelPage,
    responses={200: examples.answer("A page of models.", model_examples.PAGE), **problems(422)},
)
def list_models(
    caller: CallerDep,
    store: StoreDep,
    dataset_id: Annotated[
        str | None, Query(pattern=DATASET_ID, description="Only models of this dataset.")
    ] = None,
    page_size: PageSize = 50,
    page_token: PageToken = None,
) -> Response:
    """List summaries of the models, the newest first. `next_page_token` leads to the next page.

    With `dataset_id`, at most 5,000 models are searched for one page. So a page may have fewer items than
    `page_size`, or none, although there is a next page.
    """
    page = store.models.list(caller.tenant, dataset_id=dataset_id, page_size=page_size, page_token=page_token)
    items = [model_summary(model) for model in page.items]
    return json_response(schemas.ModelPage.model_construct(items=items, next_page_token=page.next_page_token))


@router.get(
    "/{model}",
    operation_id="get_model",
    summary="Get a model",
    response_model=schemas.ModelWithTree,
    responses={
        200: examples.answer("The model.", model_examples.MODEL_WITH_TREE, headers=_ETAG),
        **_NOT_MODIFIED,
        **problems(404),
    },
)
def get_model(
    request: Request, model: ModelName, caller: CallerDep, store: StoreDep, if_none_match: NoneMatch = None
) -> Response:
    """Get the model with its tree, its metrics and its proof."""
    found = store.models.get(caller.tenant, model)
    if found is None:
        raise not_found("model")
    tag = strong_tag("model", found.id, found.name, found.notes, sorted(found.tags.items()), __version__)
    if matches(request, tag):
        return not_modified(tag)
    tree = store.models.tree(caller.tenant, found.id)
    if tree is None:  # deleted in the meantime
        raise not_found("model")
    return json_response(model_with_tree(found, tree), tag=tag)


@router.get(
    "/{model}/tree.svg",
    operation_id="draw_model",
    summary="Draw the tree",
    response_class=Response,
    responses={
        200: {
            "description": "The tree as SVG.",
            "headers": _ETAG,
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
        Literal["auto", "light", "dark"], Query(description="The colours. `auto`: as the viewer prefers.")
    ] = "auto",
    if_none_match: NoneMatch = None,
) -> Response:
    """Draw the tree. Each node is a strip over the range of its feature, coloured by branch."""
    predictor = await services.predictors.of_model(caller.tenant, model)
    tag = strong_tag("svg", predictor.source["model_id"], __version__, theme)
    if matches(request, tag):
        return not_modified(tag)
    # A browser opens the image like a page, so it may load nothing but its own style.
    headers = {**tag_headers(tag), "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return Response(predictor.tree.to_svg(theme), headers=headers, media_type="image/svg+xml")


@router.get(
    "/{model}/rules",
    operation_id="read_model",
    summary="Get the tree as text",
    response_class=Response,
    responses={
        200: {
            "description": "The tree as nested rules.",
            "headers": _ETAG,
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
    """Get the rules of the tree, its classes and its proof as text."""
    predictor = await services.predictors.of_model(caller.tenant, model)
    tag = strong_tag("rules", predictor.source["model_id"], __version__)
    if matches(request, tag):
        return not_modified(tag)
    return Response(predictor.tree.to_text(), headers=tag_headers(tag), media_type="text/plain")


@router.patch(
    "/{model}",
    operation_id="update_model",
    summary="Change a model's name, notes or tags",
    response_model=schemas.Model,
    openapi_extra=body_of(
        schemas.ModelPatch,
        MERGE_PATCH,
        "application/json",
        note={"notes": "Signed off by Ada.", "tags": {"team": None, "for": "the paper"}},
    ),
    responses={200: examples.answer("The changed model.", model_examples.MODEL), **problems(404, 415, 422)},
)
def update_model(
    model: ModelName,
    patch: Annotated[schemas.ModelPatch, Depends(strict_json(schemas.ModelPatch, MERGE_PATCH))],
    caller: CallerDep,
    store: StoreDep,
) -> Response:
    """Apply a JSON merge patch (RFC 7396): fields that are left out do not change, null removes a value."""
    found = store.models.change(
        caller.tenant, model, lambda current: patched_fields(patch, current.tags, "model")
    )
    return json_response(model_view(found))


@router.delete(
    "/{model}",
    operation_id="delete_model",
    summary="Delete a model",
    status_code=204,
    response_class=Response,
    responses={
        204: {"description": "The model is deleted."},
        **problems(404, 409, s409="An alias refers to the model; move or delete the alias first."),
    },
)
def delete_model(model: ModelId, caller: CallerDep, store: StoreDep, settings: SettingsDep) -> Response:
    """Delete a model. The job that made it is kept.

    The model can be restored for LITERATI_KEEP_DELETED_HOURS, a day by default.
    """
    store.models.delete(caller.tenant, model, keep=settings.keep_deleted_hours > 0)
    return Response(status_code=204)


@router.post(
    "/{model}/restore",
    operation_id="restore_model",
    summary="Restore a deleted model",
    response_model=schemas.Model,
    responses={
        200: examples.answer("The restored model.", model_examples.MODEL),
        **restore_problems("model", "number of models"),
    },
)
def restore_model(model: ModelId, caller: CallerDep, store: StoreDep, settings: SettingsDep) -> Response:
    """Restore a deleted model. A model that is not deleted is returned unchanged."""
    found = store.models.restore(caller.tenant, model, max_models=settings.max_models)
    return json_response(model_view(found))
