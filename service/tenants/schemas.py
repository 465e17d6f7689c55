"""Tenants as an administrator sees them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from worker.store.tenants import DEFAULT_WEIGHT, MAX_WEIGHT

Weight = Annotated[
    int,
    Field(
        ge=1,
        le=MAX_WEIGHT,
        description="How many turns the tenant gets beside others that have jobs waiting: one of weight 200 "
        f"starts twice as many jobs as one of weight 100. The default is {DEFAULT_WEIGHT}.",
        examples=[200],
    ),
]


class TenantRequest(BaseModel):
    """What is to be set of a tenant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weight: Weight


class Tenant(BaseModel):
    """A tenant: who owns datasets, jobs and models, and takes turns with others for the workers."""

    name: str
    weight: Weight
    queued_jobs: Annotated[int, Field(description="Jobs of the tenant that wait for a worker.")]
    busy_cores: Annotated[int, Field(description="Cores that running jobs of the tenant use.")]
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
