"""Routes of aliases: names that refer to a model and can be moved to another one."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response

from service.dependencies import CallerDep, SettingsDep, StoreDep
from service.examples import jobs as examples
from service.examples import models as model_examples
from service.http.etags import json_response
from service.http.media_types import strict_json
from service.http.problems import FieldError, Problem, invalid, not_found
from service.models.schemas import ALIAS, Alias, AliasList, AliasRequest
from service.schemas.parameters import EXAMPLE_MODEL_ID, body_of
from service.schemas.problems import problems
from worker.domain.errors import ModelNotFoundError

router = APIRouter(prefix="/v1/models/aliases", tags=["models"])
_ALIAS = re.compile(ALIAS)
_RESERVED = "aliases"  # the path of this list

AliasName = Annotated[
    str,
    Path(
        description="Up to 64 lower-case letters, digits and `_.-`; it must not start with `mdl_`.",
        json_schema_extra={"pattern": ALIAS},
        examples=["production"],
    ),
]


def _view(name: str, model_id: str) -> Alias:
    links = {"self": f"/v1/models/aliases/{name}", "model": f"/v1/models/{name}"}
    return Alias.model_construct(name=name, model_id=model_id, links=links)


@router.get(
    "",
    operation_id="list_aliases",
    summary="List aliases",
    response_model=AliasList,
    responses={200: examples.answer("All aliases.", {"items": [model_examples.ALIAS]})},
)
def list_aliases(caller: CallerDep, store: StoreDep) -> Response:
    """List all aliases by name."""
    found = store.models.aliases(caller.tenant)
    return json_response(AliasList.model_construct(items=[_view(*item) for item in found.items()]))


@router.api_route("", methods=["DELETE", "OPTIONS", "PATCH", "POST", "PUT"], include_in_schema=False)
async def reject_other_methods() -> Response:
    """Respond with 405; without this route, `aliases` would be read as the name of a model."""
    detail = "Only GET is allowed for this path."
    raise Problem(405, detail, kind="method-not-allowed", headers={"Allow": "GET"})


@router.get(
    "/{alias}",
    operation_id="get_alias",
    summary="Get an alias",
    response_model=Alias,
    responses={200: examples.answer("The alias.", model_examples.ALIAS), **problems(404)},
)
def get_alias(alias: AliasName, caller: CallerDep, store: StoreDep) -> Response:
    """Get the model that the alias refers to."""
    model_id = store.models.aliases(caller.tenant).get(alias)
    if model_id is None:
        raise not_found("alias")
    return json_response(_view(alias, model_id))


@router.put(
    "/{alias}",
    operation_id="set_alias",
    summary="Create or move an alias",
    response_model=Alias,
    openapi_extra=body_of(AliasRequest, production={"model_id": EXAMPLE_MODEL_ID}),
    responses={
        200: examples.answer("The alias refers to the model now.", model_examples.ALIAS),
        201: examples.answer(
            "The alias is new.",
            model_examples.ALIAS,
            headers={"Location": examples.header("The URL of the alias.")},
            model=Alias,
        ),
        **problems(409, 415, 422, s409="The maximum number of aliases is reached."),
    },
)
def set_alias(
    alias: AliasName,
    body: Annotated[AliasRequest, Depends(strict_json(AliasRequest))],
    caller: CallerDep,
    store: StoreDep,
    settings: SettingsDep,
) -> Response:
    """Make the alias refer to this model. The change is atomic and applies to all later requests."""
    if not _ALIAS.fullmatch(alias) or alias.startswith("mdl_") or alias == _RESERVED:
        message = (
            "An alias has up to 64 lower-case letters, digits, dots, hyphens and underscores, and begins "
            f"with a letter or a digit. It does not begin with `mdl_` and is not `{_RESERVED}`."
        )
        raise invalid(FieldError("/path/alias", "BAD_NAME", message))
    new = alias not in store.models.aliases(caller.tenant)
    try:
        store.models.set_alias(caller.tenant, alias, body.model_id, max_aliases=settings.max_aliases)
    except ModelNotFoundError:
        raise invalid(FieldError("/body/model_id", "NOT_FOUND", "There is no such model.")) from None
    view = _view(alias, body.model_id)
    if new:
        return json_response(view, status=201, headers={"Location": view.links["self"]})
    return json_response(view)


@router.delete(
    "/{alias}",
    operation_id="delete_alias",
    summary="Delete an alias",
    status_code=204,
    response_class=Response,
    responses={204: {"description": "The alias is deleted."}, **problems(404)},
)
def delete_alias(alias: AliasName, caller: CallerDep, store: StoreDep) -> Response:
    """Delete the alias. The model is kept."""
    store.models.delete_alias(caller.tenant, alias)
    return Response(status_code=204)
