"""Compress answers for clients that ask for it (`Accept-Encoding`).

The outermost layer does it itself, with these functions. Starlette's GZipMiddleware would be another layer
for every request; it leaves strong entity tags as they are, though the bytes are others, takes `gzip;q=0` for
a yes, and knows no zstd. An answer is compressed whole or not at all: event streams are not.

An answer holds data of its caller only. No secret is in it that the page of another site could find out from
its length (BREACH): keys are never shown, and there are no cookies.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache

import pyarrow as pa
from starlette.concurrency import run_in_threadpool
from starlette.types import Message, Scope, Send

from service.negotiation import weight
from service.security_headers import Header

SMALL = 1400  # bytes: what fits into one packet is sent as it is
LARGE = 16_384  # bytes: beyond, a thread compresses, and the loop goes on
_COMPRESSIBLE = (b"application/json", b"application/problem+json", b"text/", b"image/svg+xml")
_VARY: Header = (b"vary", b"Accept-Encoding")
_GZIP_LEVEL, _ZSTD_LEVEL = 1, 1  # higher ones save little more, and take several times as long


def _gzip(body: bytes) -> bytes:
    packer = zlib.compressobj(_GZIP_LEVEL, wbits=31)
    return packer.compress(body) + packer.flush()


def _zstd(body: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd", compression_level=_ZSTD_LEVEL).compress(body, asbytes=True)
    return packed


CODINGS: dict[str, Callable[[bytes], bytes]] = {"zstd": _zstd, "gzip": _gzip}  # the best first


@lru_cache(maxsize=256)
def accepted(accept_encoding: str) -> tuple[str, ...]:
    """The codings that a client takes, the one it prefers first."""
    weights: dict[str, float] = {}
    for entry in accept_encoding.lower().split(","):
        coding, *parameters = (part.strip() for part in entry.split(";"))
        weights[coding] = weight(parameters)
    anything = weights.get("*", 0.0)
    found = {coding: weights.get(coding, anything) for coding in CODINGS}
    return tuple(sorted((coding for coding in found if found[coding] > 0), key=lambda c: -found[c]))


def plain_tag(tag: str, accept_encoding: str) -> str:
    """An entity tag without the mark of a coding that the client takes."""
    for coding in accepted(accept_encoding):
        if tag.endswith(f'-{coding}"'):
            return f'{tag[: -len(coding) - 2]}"'
    return tag


class CompressedAnswer:
    """Send an answer, compressed if it is worth it and its client wants it."""

    __slots__ = ("_coding", "_scope", "_send", "_start")

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._start: Message | None = None  # held until there is the body
        self._coding = ""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if self._begins(message):
                return
        elif self._start is not None:
            start, self._start = self._start, None
            if not message.get("more_body", False):
                message = await self._compressed(start, message)
            await self._send(start)
        await self._send(message)

    def _begins(self, start: Message) -> bool:
        """Whether to wait for the body."""
        headers: list[Header] = start["headers"]
        if start["status"] == 304:
            start["headers"] = _not_modified(headers, self._header(b"if-none-match"))
        elif _worth_it(headers):
            start["headers"] = _varying(headers)
            codings = accepted(self._header(b"accept-encoding"))
            if codings:
                self._start, self._coding = start, codings[0]
                return True
        return False

    async def _compressed(self, start: Message, message: Message) -> Message:
        body: bytes = message["body"]
        pack = CODINGS[self._coding]
        packed = pack(body) if len(body) < LARGE else await run_in_threadpool(pack, body)
        changed = [_changed(name, value, self._coding, len(packed)) for name, value in start["headers"]]
        start["headers"] = [*changed, (b"content-encoding", self._coding.encode())]
        return {**message, "body": packed}

    def _header(self, name: bytes) -> str:
        return ",".join(value.decode("latin-1") for key, value in self._scope["headers"] if key == name)


def _worth_it(headers: Iterable[Header]) -> bool:
    """Whether an answer with these headers is compressed if its client wants it."""
    size, kind, coded = 0, b"", False
    for name, value in headers:
        if name == b"content-length":
            size = int(value)
        elif name == b"content-type":
            kind = value
        elif name == b"content-encoding":
            coded = True
    return size >= SMALL and not coded and kind.startswith(_COMPRESSIBLE)


def _changed(name: bytes, value: bytes, coding: str, size: int) -> Header:
    if name == b"content-length":
        return name, str(size).encode()
    if name == b"etag" and value.startswith(b'"'):  # strong: it speaks of bytes
        return name, value[:-1] + f'-{coding}"'.encode()
    return name, value


def _not_modified(headers: list[Header], if_none_match: str) -> list[Header]:
    """The headers of a 304, with the tag by which the client knows what it has."""
    found = [(name, _known(value, if_none_match) if name == b"etag" else value) for name, value in headers]
    return _varying(found)


def _varying(headers: list[Header]) -> list[Header]:
    return headers if _VARY in headers else [*headers, _VARY]


def _known(tag: bytes, if_none_match: str) -> bytes:
    for coding in CODINGS:
        marked = f'{tag[:-1].decode("latin-1")}-{coding}"'
        if tag.startswith(b'"') and marked in if_none_match:
            return marked.encode("latin-1")
    return tag
