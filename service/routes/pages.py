"""What a browser is shown: the API's description, as a page and as JSON, with nothing from other servers."""

from __future__ import annotations

import json
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, RedirectResponse
from starlette.staticfiles import StaticFiles

PAGE = Path(__file__).resolve().parent.parent / "page"
_REVALIDATE = {"Cache-Control": "no-cache"}

router = APIRouter(include_in_schema=False)
router.mount("/assets", StaticFiles(directory=PAGE / "assets"))


@router.get("/")
async def show_home() -> Response:
    return RedirectResponse("/docs")


@router.get("/docs")
async def show_docs() -> Response:
    return FileResponse(PAGE / "docs.html", headers=_REVALIDATE)


@router.get("/openapi.json")
async def show_description(request: Request) -> Response:
    state = request.app.state
    if not hasattr(state, "description"):  # rendered once a process
        state.description = json.dumps(request.app.openapi(), separators=(",", ":")).encode()
    return Response(state.description, media_type="application/json", headers=_REVALIDATE)
