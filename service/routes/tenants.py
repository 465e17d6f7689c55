"""Tenants and their weights, for keys with the scope `admin`."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response

from service.conditional import json_answer
from service.dependencies import KeysDep, StoreDep
from service.errors import not_found
from service.keyring import TENANT
from service.negotiation import strict_json
from service.query_options import CHECKED_OPTIONS
from service.schemas import examples
from service.schemas.problem import problems
from service.schemas.requests import body_of
from service.schemas.tenants import EXAMPLE, Tenant, TenantList, TenantRequest
from worker.store import tenants

router = APIRouter(prefix="/v1/tenants", tags=["tenants"], dependencies=[CHECKED_OPTIONS])
_TENANT = re.compile(TENANT)


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
    names = sorted(store.tenants.names() | {entry.tenant for entry in keys.entries()})
    return json_answer(TenantList.model_construct(items=[_view(store.tenants.get(name)) for name in names]))


@router.get(
    "/{tenant}",
    operation_id="get_tenant",
    summary="Look at a tenant",
    response_model=Tenant,
    responses={200: examples.answer("The tenant.", EXAMPLE), **problems(404, s404="No name of a tenant.")},
)
def get_tenant(tenant: TenantName, store: StoreDep) -> Response:
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
        **problems(404, 415, 422, s404="No name of a tenant."),
    },
)
def set_tenant(
    tenant: TenantName,
    body: Annotated[TenantRequest, Depends(strict_json(TenantRequest))],
    store: StoreDep,
) -> Response:
    """Tenants take turns: whenever a core is free, the one starts a job whose turn it is.

    The weight says how many turns a tenant gets beside the others. Needs the scope `admin`.
    """
    return json_answer(_view(store.tenants.set_weight(tenant, body.weight)))
