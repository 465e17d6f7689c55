"""The routes by resource."""

from __future__ import annotations

from fastapi import APIRouter

from service.routes import (
    aliases,
    dataset_changes,
    datasets,
    job_control,
    job_events,
    job_incumbents,
    jobs,
    models,
    pages,
    predict,
    system,
    tenants,
)

# Routes are tried in this order: what is asked most often comes first.
ROUTERS: tuple[APIRouter, ...] = (
    predict.router,
    jobs.router,
    job_incumbents.router,
    job_events.router,
    job_control.router,
    datasets.router,
    dataset_changes.router,
    aliases.router,  # before models: they are below its path
    models.router,
    tenants.router,
    system.router,
    pages.router,
)
