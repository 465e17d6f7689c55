"""Copy blobs from one place to another and check their digests."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TypeVar

from worker.blobs.local import BlobNotFoundError, Blobs

THREADS = 8  # requests to a bucket wait most of the time
READ_PAUSES = (0.2, 1.0)  # seconds before a blob that was not found is looked for again

_BATCH = 1000

Result = TypeVar("Result")
Progress = Callable[[int, int, int], None]  # blobs done, of how many, bytes copied


@dataclass
class CopiedBlobs:
    sizes: dict[str, int] = field(default_factory=dict)  # of all blobs that the target has now
    copied: list[str] = field(default_factory=list)  # those that it did not have before
    unreadable: list[str] = field(default_factory=list)  # missing in the source, or with other bytes

    @property
    def copied_bytes(self) -> int:
        return sum(self.sizes[name] for name in self.copied)


def copy_blobs(names: Collection[str], source: Blobs, target: Blobs, progress: Progress) -> CopiedBlobs:
    """Copy the blobs that the target does not have."""
    result = CopiedBlobs()
    copied_bytes = 0
    with ThreadPoolExecutor(THREADS, thread_name_prefix="blobs") as pool:
        for done, (name, size, is_new) in enumerate(
            map_names(pool, partial(_copy, source, target), names), 1
        ):
            if size is None:
                result.unreadable.append(name)
            else:
                result.sizes[name] = size
            if is_new and size is not None:
                result.copied.append(name)
                copied_bytes += size
            progress(done, len(names), copied_bytes)
    return result


def map_names(
    pool: ThreadPoolExecutor, function: Callable[[str], Result], names: Iterable[str]
) -> Iterator[Result]:
    """Yield the result for each name, with few calls at a time, because there may be a million names."""
    rest = iter(names)
    while batch := list(islice(rest, _BATCH)):
        yield from pool.map(function, batch)


def _copy(source: Blobs, target: Blobs, name: str) -> tuple[str, int | None, bool]:
    """Return the name, the size of the blob in the target, and whether it was copied."""
    size = target.size(name)
    if size is not None:
        return name, size, False
    for pause in (*READ_PAUSES, None):
        try:
            with target.temporary_file() as file:
                if source.copy_to(name, file) != name:
                    return name, None, False
                target.commit(file, name)
                return name, file.tell(), True
        except BlobNotFoundError:
            if pause is not None:
                time.sleep(pause)
    return name, None, False
