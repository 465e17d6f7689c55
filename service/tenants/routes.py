"""Routes of tenants and their weights, for keys with the scope `admin`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Response
from starlette.concurrency import run_in_threadpool

from service.auth.api_keys import ApiKeys
from service.auth.key_file import DEFAULT_TENANT, TENANT
from service.commands import command
from service.dependencies import KeysDep, StoreDep
from service.examples import jobs as examples
from service.http.etags import json_response
from service.http.media_types import strict_json
from service.http.problems import Problem
from service.http.strict_queries import CHECKED_OPTIONS
from service.schemas.parameters import body_of, path_name
from service.schemas.problems import problems
from service.tenants.schemas import EXAMPLE, Tenant, TenantList, TenantRequest
from worker.store import Store, tenants

router = APIRouter(prefix="/v1/tenants", tags=["tenants"], dependencies=[CHECKED_OPTIONS])
_NO_TENANT = "There is no such tenant; the detail lists the existing ones."
MAX_LISTED = 20  # tenants in a message


TenantName = Annotated[str, Depends(path_name("tenant", "tenant", TENANT, "The name of the tenant.", "lab"))]


def _known(store: Store, keys: ApiKeys) -> set[str]:
    """Return the tenants that have a key, a weight of their own, or queued or running jobs."""
    own = set() if keys.required else {DEFAULT_TENANT}
    return own | store.tenants.names() | {entry.tenant for entry in keys.entries()}


async def _existing(tenant: TenantName, store: StoreDep, keys: KeysDep) -> str:
    """Respond with 404 to a tenant that has neither a key nor a record; its name is probably misspelled."""
    known = await run_in_threadpool(_known, store, keys)
    if tenant not in known:
        await keys.update()  # the key may have been added just now
        known = await run_in_threadpool(_known, store, keys)
    if tenant not in known and not await run_in_threadpool(store.tenants.has_records, tenant):
        names = sorted(known)
        more = f" and {len(names) - MAX_LISTED:,} more" if len(names) > MAX_LISTED else ""
        raise Problem(
            404,
            f"There is no such tenant. The tenants are: {', '.join(names[:MAX_LISTED])}{more}. To create "
            f"one, add a key for it: `{command('keys')} add NAME --tenant TENANT`.",
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
    """List the tenants that have a key, a weight of their own, or queued or running jobs.

    Requires the scope `admin`.
    """
    items = [_view(store.tenants.get(name)) for name in sorted(_known(store, keys))]
    return json_response(TenantList.model_construct(items=items))


@router.get(
    "/{tenant}",
    operation_id="get_tenant",
    summary="Get a tenant",
    response_model=Tenant,
    responses={200: examples.answer("The tenant.", EXAMPLE), **problems(404, s404=_NO_TENANT)},
)
def get_tenant(tenant: ExistingTenant, store: StoreDep) -> Response:
    """Get the weight, the queued jobs and the busy cores of a tenant. Requires the scope `admin`."""
    return json_response(_view(store.tenants.get(tenant)))


@router.put(
    "/{tenant}",
    operation_id="set_tenant",
    summary="Set a tenant's weight",
    response_model=Tenant,
    openapi_extra=body_of(TenantRequest, double={"weight": 200}),
    responses={
        200: examples.answer("The tenant. The weight applies from the next job on.", EXAMPLE),
        **problems(404, 415, 422, s404=_NO_TENANT),
    },
)
def set_tenant(
    tenant: ExistingTenant,
    body: Annotated[TenantRequest, Depends(strict_json(TenantRequest))],
    store: StoreDep,
) -> Response:
    """Set the tenant's share of the workers, in proportion to the weights of the other tenants.

    When a core becomes free, the tenant whose turn it is starts a job. Requires the scope `admin`.
    """
    return json_response(_view(store.tenants.set_weight(tenant, body.weight)))
