"""The API's description: what the routes say, and what holds for all of them."""

from __future__ import annotations

from fastapi import FastAPI

DESCRIPTION = "Optimal shape-generalized decision trees, trained anytime."


def install(app: FastAPI) -> None:
    """Make `app.openapi()` give the whole description."""
