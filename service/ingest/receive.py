"""A request's body to a file: in blocks, hashed on the way, through a buffer of fixed size."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from service.errors import Problem
from service.limits import CODING
from worker.blobs import Blobs

from .build import Upload
from .media import Media, body_media, part_media
from .multipart import FilePart
from .spare_disk import check_spare

BLOCK_BYTES = 1 << 20
_FIRST_BLOCK_BYTES = 1 << 16  # less than this is not worth a file until it is complete


@asynccontextmanager
async def received(request: Request, blobs: Blobs, spare_disk_bytes: int) -> AsyncIterator[Upload]:
    """The upload in a file that is gone afterwards, however this ends."""
    media = body_media(request.headers.get("content-type"))
    writer = _Writer(blobs, spare_disk_bytes)
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
        path = await writer.end()
        yield Upload(
            path=path,
            form=media.form,
            charset=media.charset,
            coding=request.scope.get(CODING),
            sha256=writer.digest.hexdigest(),
            size=writer.size,
        )
    except ClientDisconnect:
        message = "The connection broke off before the body was complete."
        raise Problem(400, message, kind="malformed-body") from None
    finally:
        await writer.close()


class _Writer:
    """While one block is hashed and written by a thread, the next one is gathered.

    The disk is for threads only: to delete a large file takes long enough for other requests to notice.
    """

    def __init__(self, blobs: Blobs, spare_disk_bytes: int) -> None:
        self.digest = hashlib.sha256()
        self.size = 0
        self._blobs = blobs
        self._spare_disk_bytes = spare_disk_bytes
        self._draft = ExitStack()
        self._file: BinaryIO | None = None
        self._chunks: list[bytes] = []
        self._gathered = 0
        self._enough = _FIRST_BLOCK_BYTES
        self._writing: asyncio.Future[None] | None = None

    async def take(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._gathered += len(chunk)
        if self._gathered >= self._enough:
            await self._flush()

    async def end(self) -> Path:
        """The file with all of it."""
        await self._flush()
        await self._written()
        assert self._file is not None
        return Path(self._file.name)

    async def close(self) -> None:
        """No thread is at the file any more, and it is gone."""
        with suppress(OSError):  # told already
            await self._written()
        await run_in_threadpool(self._draft.close)

    async def _flush(self) -> None:
        await self._written()
        block, self._chunks, self._gathered = b"".join(self._chunks), [], 0
        self._enough = BLOCK_BYTES
        self._writing = asyncio.ensure_future(run_in_threadpool(self._write, block))

    async def _written(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None:
            await writing

    def _write(self, block: bytes) -> None:
        if self._file is None:
            self._file = self._draft.enter_context(self._blobs.draft())
        check_spare(self._blobs.folder, len(block), self._spare_disk_bytes)
        self.digest.update(block)
        self._file.write(block)
        self._file.flush()
        self.size += len(block)
