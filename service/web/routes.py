"""What a browser is shown: the page, the API's description, and their assets; nothing from other servers."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request, Response

from service.compression import accepted
from service.conditional import matches
from service.errors import Problem

PAGE = Path(__file__).resolve().parent.parent / "page"
_REVALIDATE = "no-cache"
_FOREVER = "public, max-age=31536000, immutable"
_HASHED = re.compile(r"[a-z]+-[0-9A-Z]{8}\.(js|css)")  # a name that changes with its content
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class StaticFile:
    """A file in memory, packed once: the page is a third of its size on the way."""

    content: bytes
    packed: bytes
    tag: str
    media_type: str
    cache_control: str

    @classmethod
    def read(cls, path: Path) -> StaticFile:
        content = path.read_bytes()
        return cls(
            content,
            gzip.compress(content, 9, mtime=0),
            hashlib.sha256(content).hexdigest()[:24],
            _TYPES[path.suffix],
            _FOREVER if _HASHED.fullmatch(path.name) else _REVALIDATE,
        )

    def answer(self, request: Request) -> Response:
        packed = "gzip" in accepted(request.headers.get("accept-encoding", ""))
        tag = f'"{self.tag}{"-gzip" if packed else ""}"'
        headers = {"ETag": tag, "Cache-Control": self.cache_control, "Vary": "Accept-Encoding"}
        if matches(request, tag):
            return Response(status_code=304, headers=headers)
        if packed:
            headers["Content-Encoding"] = "gzip"
        return Response(self.packed if packed else self.content, headers=headers, media_type=self.media_type)


@cache
def assets() -> dict[str, StaticFile]:
    """By name. All are read at the first request: what is not in the folder then cannot be asked for."""
    return {path.name: StaticFile.read(path) for path in (PAGE / "assets").iterdir() if path.suffix in _TYPES}


@cache
def _page(name: str) -> StaticFile:
    return StaticFile.read(PAGE / name)


@router.get("/")
async def show_home(request: Request) -> Response:
    return _page("index.html").answer(request)


@router.get("/docs")
async def show_docs(request: Request) -> Response:
    return _page("docs.html").answer(request)


@router.get("/assets/{name:path}")
async def show_asset(name: str, request: Request) -> Response:
    found = assets().get(name)
    if found is None:
        raise Problem(404, "There is nothing at this address; see /docs.", kind="not-found")
    return found.answer(request)


@router.get("/openapi.json")
async def show_description(request: Request) -> Response:
    state = request.app.state
    if not hasattr(state, "description"):  # rendered once a process
        state.description = json.dumps(request.app.openapi(), separators=(",", ":")).encode()
    return Response(state.description, media_type="application/json", headers={"Cache-Control": _REVALIDATE})
