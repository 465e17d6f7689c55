"""The routes by resource."""

from __future__ import annotations

from fastapi import APIRouter

from service.routes import job_control, job_events, job_incumbents, jobs, pages, system

# Routes are tried in this order: what is asked most often comes first.
ROUTERS: tuple[APIRouter, ...] = (
    jobs.router,
    job_incumbents.router,
    job_events.router,
    job_control.router,
    system.router,
    pages.router,
)
