"""The format of the records in the store, so that a program does not misread what a newer one wrote.

The store says which format the newest program has, and the lowest format that a program must know to read
everything in the store. Both only rise. Formats so far:

1. Version 0.1.0, which does not mark the store and does not look at the mark.
2. Every tenant has its own queue. Programs of this format read stores of format 1 and convert them.
3. Ended jobs and models may be in archives (archives.py), which are counted as other blobs are.
4. Names of archives are in a set. The first archive requires this format of all programs.
"""

from __future__ import annotations

from typing import Any

from literati import __version__
from worker.domain.errors import StoreFormatError
from worker.store.client import StorePart

FORMAT = ARCHIVES = 4  # of this program
READER = 2  # the lowest format that reads what this program writes, unless a feature asks for more
KEY = "literati:store-format"  # a hash: format, reader, and the version of the program that raised one last


class StoreFormat(StorePart):
    """The mark of the store."""

    refusal: str | None = None  # why this program must not use the store, when it was checked last

    def check(self) -> None:
        """Mark the store with the format of this program. Raise StoreFormatError if it cannot read the store.

        A store without a mark is that of a program without this check, and is accepted.
        """
        self.require_reader(READER)

    def check_only(self) -> None:
        """Raise StoreFormatError as `check` does, but write nothing, for a user who may only read."""
        found: Any = self._client.hmget(KEY, ["reader", "version"])
        needed, version = found
        self._refuse_below(int(needed or 0), version or b"?")

    def require_reader(self, reader: int) -> None:
        """Keep programs below this format from using the store, before something is written for others.

        A script calls `require_reader` of `lua/shared/store_format.lua` instead, in the same step.
        """
        assert reader <= FORMAT, "a program does not write what it cannot read"
        needed, version = self._scripts.run("mark_format", FORMAT, reader, __version__)
        self._refuse_below(int(needed), version)

    def _refuse_below(self, needed: int, version: bytes) -> None:
        if needed <= FORMAT:
            self.refusal = None
            return
        self.refusal = (
            f"Literati {version.decode()} has written to the store, and programs below format {needed} "
            f"cannot read it; this is Literati {__version__} with format {FORMAT}. Install Literati "
            f"{version.decode()} or newer here, or restore a backup from before the upgrade."
        )
        raise StoreFormatError(self.refusal)
