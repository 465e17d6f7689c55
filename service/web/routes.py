"""Routes of the web page, the API documentation and their assets."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request, Response

from service.http.compression import accepted
from service.http.etags import matches
from service.http.problems import Problem

PAGE = Path(__file__).resolve().parent
_REVALIDATE = "no-cache"
_FOREVER = "public, max-age=31536000, immutable"
_HASHED = re.compile(r"[a-z]+-[0-9A-Z]{8}\.(js|css|csv)")  # a file name with a hash of the content
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}

router = APIRouter(include_in_schema=False)


class StaticFile:
    """A file in memory, as it is and compressed with gzip."""

    def __init__(self, path: Path) -> None:
        self.content = path.read_bytes()
        self.compressed = gzip.compress(self.content, 9, mtime=0)
        self.tag = hashlib.sha256(self.content).hexdigest()[:24]
        self.media_type = _TYPES[path.suffix]
        self.cache_control = _FOREVER if _HASHED.fullmatch(path.name) else _REVALIDATE

    def response(self, request: Request) -> Response:
        compress = "gzip" in accepted(request.headers.get("accept-encoding", ""))
        tag = f'"{self.tag}{"-gzip" if compress else ""}"'
        headers = {"ETag": tag, "Cache-Control": self.cache_control, "Vary": "Accept-Encoding"}
        if matches(request, tag):
            return Response(status_code=304, headers=headers)
        if compress:
            headers["Content-Encoding"] = "gzip"
        content = self.compressed if compress else self.content
        return Response(content, headers=headers, media_type=self.media_type)


@cache
def assets() -> dict[str, StaticFile]:
    """Return the assets by name. All are read at the first request, so no request can read other files."""
    return {path.name: StaticFile(path) for path in (PAGE / "assets").iterdir() if path.suffix in _TYPES}


@cache
def _page(name: str) -> StaticFile:
    return StaticFile(PAGE / name)


@router.get("/")
async def show_home(request: Request) -> Response:
    return _page("index.html").response(request)


@router.get("/docs")
async def show_docs(request: Request) -> Response:
    return _page("docs.html").response(request)


@router.get("/assets/{name:path}")
async def show_asset(name: str, request: Request) -> Response:
    found = assets().get(name)
    if found is None:
        raise Problem(404, "There is no such asset; the API is documented at /docs.", kind="not-found")
    return found.response(request)


@router.get("/openapi.json")
async def show_description(request: Request) -> Response:
    state = request.app.state
    if not hasattr(state, "description"):  # rendered once per process
        state.description = json.dumps(request.app.openapi(), separators=(",", ":")).encode()
    return Response(state.description, media_type="application/json", headers={"Cache-Control": _REVALIDATE})
