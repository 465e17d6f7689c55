"""Parse an upload in a sandbox process: the task that is sent to it and the result that it returns."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

from pydantic import TypeAdapter

from service.http.decompression import forget_copies
from service.ingest.errors import IngestError, Issue, body_issue, too_much_memory
from service.ingest.fixes import Fix
from service.ingest.pipeline import ParseTask, make_dataset
from service.sandbox.client import CrashError, MemoryLimitError, Sandbox, TimeLimitError
from worker.domain.datasets import Dataset

NAME = "dataset"
MEMORY_FACTOR = 2  # memory limit of a process, as a multiple of the maximum table size
SMALL_MAX_MEMORY, SMALL_MAX_SECONDS = 256 << 20, 10.0  # far more than most small uploads need


@dataclass(frozen=True)
class ParseResult:
    """The dataset, or the issues of the upload, or an error of the disk."""

    dataset: Dataset | None = None
    issues: tuple[Issue, ...] = ()
    fixes: tuple[Fix, ...] = ()
    disk_error: int | None = None  # errno


_TASK = TypeAdapter(ParseTask)
_RESULT = TypeAdapter(ParseResult)


def parse_upload(processes: Sandbox, task: ParseTask) -> Dataset:
    """Parse and store an upload; block until it is done.

    Raise IngestError if the upload cannot be used, and OSError if the disk cannot be written.
    """
    max_table_bytes = task.limits.max_table_bytes
    try:
        return _run(processes, task, MEMORY_FACTOR * max_table_bytes, task.seconds)
    except MemoryLimitError:
        raise IngestError(too_much_memory(max_table_bytes)) from None
    except TimeLimitError:
        message = (
            f"Reading the table takes longer than {task.seconds:g} seconds (LITERATI_MAX_PARSE_SECONDS). "
            "Leave out columns with drop=, or send fewer rows."
        )
        raise IngestError(body_issue("TABLE_TOO_SLOW", message)) from None


def parse_small_upload(processes: Sandbox, task: ParseTask) -> Dataset | None:
    """Parse an upload like `parse_upload`, but return None if it exceeds the limits of a small upload."""
    memory = min(SMALL_MAX_MEMORY, MEMORY_FACTOR * task.limits.max_table_bytes)
    try:
        return _run(processes, task, memory, min(SMALL_MAX_SECONDS, task.seconds))
    except (MemoryLimitError, TimeLimitError):
        return None


def _run(processes: Sandbox, task: ParseTask, memory_bytes: int, seconds: float) -> Dataset:
    try:
        data = processes.run(NAME, _TASK.dump_json(task), memory_bytes=memory_bytes, seconds=seconds)
    except CrashError:
        message = "The file made its reader crash: it is damaged, or it needs more memory than there is."
        raise IngestError(body_issue("UNREADABLE", message)) from None
    finally:
        forget_copies(task.upload.path)
    result = _RESULT.validate_json(data)
    if result.dataset is not None:
        return result.dataset
    if result.disk_error is not None:
        raise OSError(result.disk_error, os.strerror(result.disk_error))
    raise IngestError(*result.issues, fixes=result.fixes)


def work(data: bytes) -> bytes:
    """Run in the sandbox process: parse the task, do it and return the result."""
    try:
        result = ParseResult(make_dataset(_TASK.validate_json(data)))
    except IngestError as error:
        result = ParseResult(issues=error.issues, fixes=error.fixes)
    except OSError as error:
        result = ParseResult(disk_error=error.errno or errno.EIO)
    return _RESULT.dump_json(result)
