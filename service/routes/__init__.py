"""The routes by resource."""

from __future__ import annotations

from fastapi import APIRouter

from service.routes import system

ROUTERS: tuple[APIRouter, ...] = (system.router,)
