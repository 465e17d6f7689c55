"""Keep disk space free during uploads, because the store on the same disk must be able to write."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path


def check_spare(folder: Path, coming: int, spare: int) -> None:
    """Raise the OSError of a full disk if writing `coming` bytes would leave less than `spare`."""
    if shutil.disk_usage(folder).free - coming < spare:
        raise OSError(errno.ENOSPC, "the disk would have too little free space")
