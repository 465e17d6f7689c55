"""Room that uploads leave on the disk: the store beside them must be able to write, or it ends."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path


def check_spare(folder: Path, coming: int, spare: int) -> None:
    """OSError as of a full disk if so many more bytes would leave less than the spare ones."""
    if shutil.disk_usage(folder).free - coming < spare:
        raise OSError(errno.ENOSPC, "the spare room of the disk would be used")
