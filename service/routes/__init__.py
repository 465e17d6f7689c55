"""The routes by resource."""

from __future__ import annotations

from fastapi import APIRouter

from service.routes import job_control, job_events, job_incumbents, jobs, system

ROUTERS: tuple[APIRouter, ...] = (
    jobs.router,
    job_incumbents.router,
    job_events.router,
    job_control.router,
    system.router,
)
