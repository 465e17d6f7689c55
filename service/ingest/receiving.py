"""A request's body to a file: in blocks, hashed on the way, through a buffer of fixed size."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from service.errors import Problem
from worker.blobs import Blobs

from .build import Upload
from .media import Media, body_media, checked_form, part_media
from .multipart import FilePart
from .spare_disk import check_spare

BLOCK_BYTES = 1 << 20
_START_BYTES = 16


@asynccontextmanager
async def received(request: Request, blobs: Blobs, spare_disk_bytes: int) -> AsyncIterator[Upload]:
    """The upload in a file that is gone afterwards, however this ends."""
    media = body_media(request.headers.get("content-type"))
    with blobs.draft() as draft:
        writer = _Writer(draft, blobs.folder, spare_disk_bytes)
        try:
            if isinstance(media, Media):
                async for chunk in request.stream():
                    await writer.take(chunk)
            else:
                part = FilePart(media)
                async for chunk in request.stream():
                    await writer.take(part.feed(chunk))
                part.end()
                media = part_media(part.content_type)
        except ClientDisconnect:
            message = "The connection broke off before the body was complete."
            raise Problem(400, message, kind="malformed-body") from None
        finally:
            await writer.end()
        yield Upload(
            path=Path(draft.name),
            form=checked_form(media.form, writer.start),
            charset=media.charset,
            sha256=writer.digest.hexdigest(),
            size=writer.size,
        )


class _Writer:
    """While one block is hashed and written by a thread, the next one is gathered."""

    def __init__(self, file: BinaryIO, folder: Path, spare_disk_bytes: int) -> None:
        self.file = file
        self.folder = folder
        self.spare_disk_bytes = spare_disk_bytes
        self.digest = hashlib.sha256()
        self.size = 0
        self.start = b""
        self._chunks: list[bytes] = []
        self._gathered = 0
        self._writing: asyncio.Future[None] | None = None

    async def take(self, chunk: bytes) -> None:
        if len(self.start) < _START_BYTES:
            self.start = (self.start + chunk)[:_START_BYTES]
        self._chunks.append(chunk)
        self._gathered += len(chunk)
        if self._gathered >= BLOCK_BYTES:
            await self._flush()

    async def end(self) -> None:
        """All is in the file, and no thread is at it any more."""
        await self._flush()
        await self._written()

    async def _flush(self) -> None:
        await self._written()
        block, self._chunks, self._gathered = b"".join(self._chunks), [], 0
        self._writing = asyncio.ensure_future(run_in_threadpool(self._write, block))

    async def _written(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None:
            await writing

    def _write(self, block: bytes) -> None:
        check_spare(self.folder, len(block), self.spare_disk_bytes)
        self.digest.update(block)
        self.file.write(block)
        self.file.flush()
        self.size += len(block)
