"""Tenants and their weights, for keys with the scope `admin`."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response
from starlette.concurrency import run_in_threadpool

from service.api_keys import Keys
from service.conditional import json_answer
from service.dependencies import KeysDep, StoreDep
from service.errors import Problem, not_found
from service.keyring import DEFAULT_TENANT, TENANT
from service.negotiation import strict_json
from service.query_options import CHECKED_OPTIONS
from service.schemas import examples
from service.schemas.problem import problems
from service.schemas.requests import body_of
from service.schemas.tenants import EXAMPLE, Tenant, TenantList, TenantRequest
from worker.store import Store, tenants

router = APIRouter(prefix="/v1/tenants", tags=["tenants"], dependencies=[CHECKED_OPTIONS])
_TENANT = re.compile(TENANT)
_NO_TENANT = "There is no such tenant; the detail names those that have a key."
MAX_NAMED = 20  # tenants in a message


async def _tenant_name(
    tenant: Annotated[
        str,
        Path(description="The tenant's name.", json_schema_extra={"pattern": TENANT}, examples=["lab"]),
    ],
) -> str:
    if not _TENANT.fullmatch(tenant):
        raise not_found("tenant")
    return tenant


TenantName = Annotated[str, Depends(_tenant_name)]


def _known(store: Store, keys: Keys) -> set[str]:
    """Return the tenants that have a key, a weight of their own, or jobs that wait or run."""
    own = set() if keys.required else {DEFAULT_TENANT}
    return own | store.tenants.names() | {entry.tenant for entry in keys.entries()}


async def _existing(tenant: TenantName, store: StoreDep, keys: KeysDep) -> str:
    """Refuse a tenant that has neither a key nor a record: its name is most likely misspelled."""
    known = await run_in_threadpool(_known, store, keys)
    if tenant not in known:
        await keys.update()  # the key may have been made a moment ago
        known = await run_in_threadpool(_known, store, keys)
    if tenant not in known and not await run_in_threadpool(store.tenants.has_records, tenant):
        names = sorted(known)
        more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
        raise Problem(
            404,
            "There is no such tenant: no key and no record has this name. There are: "
            f"{', '.join(names[:MAX_NAMED])}{more}. A tenant begins with a key "
            "(`python -m service.keys add NAME --tenant TENANT`).",
            kind="not-found",
        )
    return tenant


ExistingTenant = Annotated[str, Depends(_existing)]


def _view(tenant: tenants.Tenant) -> Tenant:
    return Tenant.model_construct(**vars(tenant), links={"self": f"/v1/tenants/{tenant.name}"})


@router.get(
    "",
    operation_id="list_tenants",
    summary="List tenants",
    response_model=TenantList,
    responses={200: examples.answer("The tenants by name.", {"items": [EXAMPLE]})},
)
def list_tenants(store: StoreDep, keys: KeysDep) -> Response:
    """Those that have a key, a weight of their own, or jobs that wait or run. Needs the scope `admin`."""
    items = [_view(store.tenants.get(name)) for name in sorted(_known(store, keys))]
    return json_answer(TenantList.model_construct(items=items))


@router.get(
    "/{tenant}",
    operation_id="get_tenant",
    summary="Look at a tenant",
    response_model=Tenant,
    responses={200: examples.answer("The tenant.", EXAMPLE), **problems(404, s404=_NO_TENANT)},
)
def get_tenant(tenant: ExistingTenant, store: StoreDep) -> Response:
    """Its weight, and what it has waiting and running. Needs the scope `admin`."""
    return json_answer(_view(store.tenants.get(tenant)))


@router.put(
    "/{tenant}",
    operation_id="set_tenant",
    summary="Set a tenant's weight",
    response_model=Tenant,
    openapi_extra=body_of(TenantRequest, double={"weight": 200}),
    responses={
        200: examples.answer("The tenant has this weight from the next job on.", EXAMPLE),
        **problems(404, 415, 422, s404=_NO_TENANT),
    },
)
def set_tenant(
    tenant: ExistingTenant,
    body: Annotated[TenantRequest, Depends(strict_json(TenantRequest))],
    store: StoreDep,
) -> Response:
    """Tenants take turns: whenever a core is free, the one starts a job whose turn it is.

    The weight says how many turns a tenant gets beside the others. Needs the scope `admin`.
    """
    return json_answer(_view(store.tenants.set_weight(tenant, body.weight)))
