"""Reading an upload in a process apart: what it is told, and what it says."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from service.apart.processes import BrokenError, NoMemoryError, NoTimeError, Processes
from worker.blobs import Blobs
from worker.messages import Dataset

from .build import Upload, make_dataset
from .errors import Fault, IngestError, broke_reader, too_much_memory, too_much_time
from .fixes import Fix
from .options import Options, TableLimits
from .packing import forget_copies

NAME = "dataset"
MEMORY = 2  # times the largest table: what reading one may take
QUICK_MEMORY, QUICK_SECONDS = 256 << 20, 10.0  # what reading a small upload usually takes is far below


@dataclass(frozen=True)
class Errand:
    upload: Upload
    options: Options
    limits: TableLimits
    blobs: Path  # the folder for the table
    dataset_id: str
    tenant: str
    seconds: float
    spare_disk_bytes: int


@dataclass(frozen=True)
class Told:
    """One of the three."""

    dataset: Dataset | None = None
    faults: tuple[Fault, ...] = ()
    fixes: tuple[Fix, ...] = ()
    disk_error: int | None = None  # errno


_ERRAND = TypeAdapter(Errand)
_TOLD = TypeAdapter(Told)


def run(processes: Processes, errand: Errand) -> Dataset:
    """Blocks until the table is stored. IngestError if the upload is no good, OSError if the disk is."""
    most = errand.limits.max_table_bytes
    try:
        return _run(processes, errand, MEMORY * most, errand.seconds)
    except NoMemoryError:
        raise IngestError(too_much_memory(most)) from None
    except NoTimeError:
        raise IngestError(too_much_time(errand.seconds)) from None


def run_quickly(processes: Processes, errand: Errand) -> Dataset | None:
    """As `run`, but return None if it takes more memory or time than a small upload should."""
    memory = min(QUICK_MEMORY, MEMORY * errand.limits.max_table_bytes)
    try:
        return _run(processes, errand, memory, min(QUICK_SECONDS, errand.seconds))
    except (NoMemoryError, NoTimeError):
        return None


def _run(processes: Processes, errand: Errand, memory_bytes: int, seconds: float) -> Dataset:
    try:
        said = processes.run(NAME, _ERRAND.dump_json(errand), memory_bytes=memory_bytes, seconds=seconds)
    except BrokenError:
        raise IngestError(broke_reader()) from None
    finally:
        forget_copies(errand.upload.path)
    told = _TOLD.validate_json(said)
    if told.dataset is not None:
        return told.dataset
    if told.disk_error is not None:
        raise OSError(told.disk_error, os.strerror(told.disk_error))
    raise IngestError(*told.faults, fixes=told.fixes)


def work(data: bytes) -> bytes:
    """There."""
    return _TOLD.dump_json(_told(_ERRAND.validate_json(data)))


def _told(errand: Errand) -> Told:
    try:
        dataset = make_dataset(
            errand.upload,
            errand.options,
            errand.limits,
            Blobs(errand.blobs),
            dataset_id=errand.dataset_id,
            tenant=errand.tenant,
            spare_disk_bytes=errand.spare_disk_bytes,
        )
    except IngestError as error:
        return Told(faults=error.faults, fixes=error.fixes)
    except OSError as error:
        return Told(disk_error=error.errno or errno.EIO)
    return Told(dataset=dataset)
