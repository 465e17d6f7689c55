"""Schemas of tenants."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from worker.domain.base import FrozenModel
from worker.store.tenants import DEFAULT_WEIGHT, MAX_WEIGHT

Weight = Annotated[
    int,
    Field(
        ge=1,
        le=MAX_WEIGHT,
        description="The tenant's share of the workers when several tenants have queued jobs: a tenant of "
        "weight 200 starts twice as many jobs as a tenant of weight 100. The default is "
        f"{DEFAULT_WEIGHT}.",
        examples=[200],
    ),
]


class TenantRequest(FrozenModel):
    """The settings of a tenant."""

    weight: Weight


class Tenant(BaseModel):
    """An owner of datasets, jobs and models, which shares the workers with other tenants."""

    name: str
    weight: Weight
    queued_jobs: Annotated[int, Field(description="The number of jobs that wait for a worker.")]
    busy_cores: Annotated[int, Field(description="The number of cores that running jobs use.")]
    links: dict[str, str]


class TenantList(BaseModel):
    items: list[Tenant]


EXAMPLE: dict[str, Any] = {
    "name": "lab",
    "weight": 200,
    "queued_jobs": 12,
    "busy_cores": 3,
    "links": {"self": "/v1/tenants/lab"},
}
