"""Write a request's body to a temporary file in blocks and compute its hash at the same time."""

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

from service.http.body_limits import CODING
from service.http.problems import Problem
from service.http.spare_disk import check_spare
from service.ingest.media_types import TableMediaType, body_media_type, part_media_type
from service.ingest.multipart import FilePart
from service.ingest.pipeline import Upload
from worker.blobs.local import Blobs

BLOCK_BYTES = 1 << 20
_FIRST_BLOCK_BYTES = 1 << 16  # a smaller body is written only when it is complete


@asynccontextmanager
async def receive_upload(request: Request, blobs: Blobs, min_free_bytes: int) -> AsyncIterator[Upload]:
    """Yield the upload in a file that is deleted afterwards."""
    media_type = body_media_type(request.headers.get("content-type"))
    writer = _UploadWriter(blobs, min_free_bytes)
    try:
        if isinstance(media_type, TableMediaType):
            async for chunk in request.stream():
                await writer.write(chunk)
        else:
            part = FilePart(media_type)
            async for chunk in request.stream():
                await writer.write(part.feed(chunk))
            part.end()
            media_type = part_media_type(part.content_type)
        path = await writer.finish()
        yield Upload(
            path=path,
            format=media_type.format,
            charset=media_type.charset,
            coding=request.scope.get(CODING),
            sha256=writer.digest.hexdigest(),
            size=writer.size,
        )
    except ClientDisconnect:
        message = "The connection was closed before the body was complete."
        raise Problem(400, message, kind="malformed-body") from None
    finally:
        await writer.close()


class _UploadWriter:
    """Collects chunks into blocks; a thread hashes and writes one block while the next is collected.

    All disk access is in threads, because even deleting a large file would delay other requests.
    """

    def __init__(self, blobs: Blobs, min_free_bytes: int) -> None:
        self.digest = hashlib.sha256()
        self.size = 0
        self._blobs = blobs
        self._min_free_bytes = min_free_bytes
        self._draft = ExitStack()
        self._file: BinaryIO | None = None
        self._chunks: list[bytes] = []
        self._chunk_bytes = 0
        self._block_bytes = _FIRST_BLOCK_BYTES
        self._pending_write: asyncio.Future[None] | None = None

    async def write(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        self._chunk_bytes += len(chunk)
        if self._chunk_bytes >= self._block_bytes:
            await self._flush()

    async def finish(self) -> Path:
        """Write the rest and return the path of the file."""
        await self._flush()
        await self._wait_for_write()
        assert self._file is not None
        return Path(self._file.name)

    async def close(self) -> None:
        """Wait for the thread that writes, then delete the file."""
        with suppress(OSError):  # `write` or `finish` has raised it already
            await self._wait_for_write()
        await run_in_threadpool(self._draft.close)

    async def _flush(self) -> None:
        await self._wait_for_write()
        block, self._chunks, self._chunk_bytes = b"".join(self._chunks), [], 0
        self._block_bytes = BLOCK_BYTES
        self._pending_write = asyncio.ensure_future(run_in_threadpool(self._write_block, block))

    async def _wait_for_write(self) -> None:
        pending, self._pending_write = self._pending_write, None
        if pending is not None:
            await pending

    def _write_block(self, block: bytes) -> None:
        if self._file is None:
            self._file = self._draft.enter_context(self._blobs.temporary_file())
        check_spare(self._blobs.folder, len(block), self._min_free_bytes)
        self.digest.update(block)
        self._file.write(block)
        self._file.flush()
        self.size += len(block)
