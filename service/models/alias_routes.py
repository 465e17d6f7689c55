"""Names for models that can be moved from one to the next."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response

from service.conditional import json_answer
from service.dependencies import CallerDep, SettingsDep, StoreDep
from service.errors import FieldError, Problem, invalid, not_found
from service.negotiation import strict_json
from service.schemas import examples, model_examples
from service.schemas.models import ALIAS, Alias, AliasList, AliasRequest
from service.schemas.problem import problems
from service.schemas.requests import body_of
from worker.errors import ModelGoneError

router = APIRouter(prefix="/v1/models/aliases", tags=["models"])
_ALIAS = re.compile(ALIAS)
_TAKEN = "aliases"  # /v1/models/aliases is this list

AliasName = Annotated[
    str,
    Path(
        description="Lower-case letters, digits and `_.-`, at most 64; it must not begin like an id.",
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
    responses={200: examples.answer("All of them.", {"items": [model_examples.ALIAS]})},
)
def list_aliases(caller: CallerDep, store: StoreDep) -> Response:
    """By name."""
    found = store.models.aliases(caller.tenant)
    return json_answer(AliasList.model_construct(items=[_view(*item) for item in found.items()]))


@router.api_route("", methods=["DELETE", "OPTIONS", "PATCH", "POST", "PUT"], include_in_schema=False)
async def refuse() -> Response:
    """Without this, the list would be taken for a model of this name."""
    raise Problem(405, "This address takes GET.", kind="method-not-allowed", headers={"Allow": "GET"})


@router.get(
    "/{alias}",
    operation_id="get_alias",
    summary="Look at an alias",
    response_model=Alias,
    responses={200: examples.answer("The alias.", model_examples.ALIAS), **problems(404)},
)
def get_alias(alias: AliasName, caller: CallerDep, store: StoreDep) -> Response:
    """Which model it names."""
    model_id = store.models.aliases(caller.tenant).get(alias)
    if model_id is None:
        raise not_found("alias")
    return json_answer(_view(alias, model_id))


@router.put(
    "/{alias}",
    operation_id="set_alias",
    summary="Name a model",
    response_model=Alias,
    openapi_extra=body_of(AliasRequest, production={"model_id": model_examples.MODEL_ID}),
    responses={
        200: examples.answer("The alias names the model from now on.", model_examples.ALIAS),
        201: {
            "model": Alias,
            **examples.answer(
                "The alias is new.",
                model_examples.ALIAS,
                headers={"Location": examples.header("The alias's address.")},
            ),
        },
        **problems(409, 415, 422, s409="There are as many aliases as may be."),
    },
)
def set_alias(
    alias: AliasName,
    body: Annotated[AliasRequest, Depends(strict_json(AliasRequest))],
    caller: CallerDep,
    store: StoreDep,
    settings: SettingsDep,
) -> Response:
    """From the answer on, every request by this name reaches the model; none sees something in between."""
    if not _ALIAS.fullmatch(alias) or alias.startswith("mdl_") or alias == _TAKEN:
        message = (
            f"Expected a name of the form {ALIAS} that does not begin with `mdl_` and is not `{_TAKEN}`."
        )
        raise invalid(FieldError("/path/alias", "BAD_NAME", message))
    new = alias not in store.models.aliases(caller.tenant)
    try:
        store.models.set_alias(caller.tenant, alias, body.model_id, most=settings.max_aliases)
    except ModelGoneError:
        raise invalid(FieldError("/body/model_id", "NOT_FOUND", "There is no such model.")) from None
    view = _view(alias, body.model_id)
    if new:
        return json_answer(view, status=201, headers={"Location": view.links["self"]})
    return json_answer(view)


@router.delete(
    "/{alias}",
    operation_id="delete_alias",
    summary="Delete an alias",
    status_code=204,
    response_class=Response,
    responses={204: {"description": "It is gone."}, **problems(404)},
)
def delete_alias(alias: AliasName, caller: CallerDep, store: StoreDep) -> Response:
    """The model stays."""
    store.models.delete_alias(caller.tenant, alias)
    return Response(status_code=204)
