"""Compress responses if `Accept-Encoding` allows it.

`service.request_middleware` calls this. Starlette's GZipMiddleware would be a further layer for every
request, does not change strong entity tags, accepts `gzip;q=0` and has no zstd. Event streams are not
compressed, and neither are responses of the Open Inference Protocol: Triton's asynchronous client accepts
codings that it cannot read.

A response has no secret that another site could infer from its length (BREACH): keys are never shown, and
there are no cookies.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache

import pyarrow as pa
from starlette.concurrency import run_in_threadpool
from starlette.types import Message, Scope, Send

from service.http.media_types import weight
from service.http.problems import is_inference
from service.http.security_headers import Header

MIN_BYTES = 1400  # what fits into one packet is not compressed
THREAD_BYTES = 16_384  # longer bodies are compressed in a thread
_COMPRESSIBLE = (b"application/json", b"application/problem+json", b"text/", b"image/svg+xml")
_VARY: Header = (b"vary", b"Accept-Encoding")
_GZIP_LEVEL, _ZSTD_LEVEL = 1, 1  # higher levels take several times as long and save little


def _gzip(body: bytes) -> bytes:
    compressor = zlib.compressobj(_GZIP_LEVEL, wbits=31)
    return compressor.compress(body) + compressor.flush()


def _zstd(body: bytes) -> bytes:
    compressed: bytes = pa.Codec("zstd", compression_level=_ZSTD_LEVEL).compress(body, asbytes=True)
    return compressed


CODINGS: dict[str, Callable[[bytes], bytes]] = {"zstd": _zstd, "gzip": _gzip}  # the preferred one first


@lru_cache(maxsize=256)
def accepted(accept_encoding: str) -> tuple[str, ...]:
    """Return the codings that a client accepts, the preferred one first."""
    weights: dict[str, float] = {}
    for entry in accept_encoding.lower().split(","):
        coding, *parameters = (part.strip() for part in entry.split(";"))
        weights[coding] = weight(parameters)
    anything = weights.get("*", 0.0)
    found = {coding: weights.get(coding, anything) for coding in CODINGS}
    return tuple(sorted((coding for coding in found if found[coding] > 0), key=lambda c: -found[c]))


def plain_tag(tag: str, accept_encoding: str) -> str:
    """Return an entity tag without the suffix of a coding that the client accepts."""
    for coding in accepted(accept_encoding):
        if tag.endswith(f'-{coding}"'):
            return f'{tag[: -len(coding) - 2]}"'
    return tag


class CompressedResponse:
    """Send a response, compressed if it is large enough and the client accepts it."""

    __slots__ = ("_coding", "_scope", "_send", "_start")

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._start: Message | None = None  # held back until the body is known
        self._coding = ""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if self._hold(message):
                return
        elif self._start is not None:
            start, self._start = self._start, None
            if not message.get("more_body", False):
                message = await self._compressed(start, message)
            await self._send(start)
        await self._send(message)

    def _hold(self, start: Message) -> bool:
        """Prepare the headers. Return whether to hold them back until the body is compressed."""
        headers: list[Header] = start["headers"]
        if start["status"] == 304:
            given = self._header(b"if-none-match")
            tagged = [
                (name, _client_tag(value, given) if name == b"etag" else value) for name, value in headers
            ]
            start["headers"] = _with_vary(tagged)
        elif _is_compressible(headers) and not is_inference(self._scope["path"]):
            start["headers"] = _with_vary(headers)
            codings = accepted(self._header(b"accept-encoding"))
            if codings:
                self._start, self._coding = start, codings[0]
                return True
        return False

    async def _compressed(self, start: Message, message: Message) -> Message:
        body: bytes = message["body"]
        compress = CODINGS[self._coding]
        compressed = compress(body) if len(body) < THREAD_BYTES else await run_in_threadpool(compress, body)
        changed = [
            _changed_header(name, value, self._coding, len(compressed)) for name, value in start["headers"]
        ]
        start["headers"] = [*changed, (b"content-encoding", self._coding.encode())]
        return {**message, "body": compressed}

    def _header(self, name: bytes) -> str:
        return ",".join(value.decode("latin-1") for key, value in self._scope["headers"] if key == name)


def _is_compressible(headers: Iterable[Header]) -> bool:
    """Return whether a response with these headers is compressed if the client accepts it."""
    found = dict(headers)
    large = int(found.get(b"content-length", 0)) >= MIN_BYTES
    return (
        large
        and b"content-encoding" not in found
        and found.get(b"content-type", b"").startswith(_COMPRESSIBLE)
    )


def _changed_header(name: bytes, value: bytes, coding: str, size: int) -> Header:
    if name == b"content-length":
        return name, str(size).encode()
    if name == b"etag" and value.startswith(b'"'):  # a strong tag identifies the bytes
        return name, value[:-1] + f'-{coding}"'.encode()
    return name, value


def _with_vary(headers: list[Header]) -> list[Header]:
    return headers if _VARY in headers else [*headers, _VARY]


def _client_tag(tag: bytes, if_none_match: str) -> bytes:
    """Return the tag of a 304 with the coding of the response that the client has."""
    for coding in CODINGS:
        marked = f'{tag[:-1].decode("latin-1")}-{coding}"'
        if tag.startswith(b'"') and marked in if_none_match:
            return marked.encode("latin-1")
    return tag
