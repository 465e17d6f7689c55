"""Files that commands write: each is replaced as a whole, or left as it was."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

import click

from literati.cli.errors import InputError
from literati.cli.output import note

STANDARD_OUTPUT = "-"
STANDARD_OUTPUTS = ("/dev/stdout", "/dev/fd/1")  # other names of it
OUTPUT_FILE = click.Option(
    ["--output", "-o"],
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    default=STANDARD_OUTPUT,
    metavar="FILE",
    help="File to write. Default: standard output.",
)


@contextmanager
def open_output(path: str | Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a file for writing, with mode `wb` or, in UTF-8, `w`.

    The content goes to another file in the same folder, which takes the place of the old one at the end of
    the block; after an error or an interrupt, the old file is still there. Standard output, and what is not a
    regular file, such as a named pipe, is written directly.
    """
    encoding = None if "b" in mode else "utf-8"
    if str(path) in STANDARD_OUTPUTS:
        path = STANDARD_OUTPUT
    if str(path) == STANDARD_OUTPUT or (os.path.exists(path) and not os.path.isfile(path)):
        with click.open_file(os.fspath(path), mode, encoding=encoding) as file:
            yield file
            file.flush()  # a reader that has gone is noticed here, and not when Python ends
        return
    target = Path(os.path.realpath(path))  # a link stays a link
    temporary = target.with_name(f".literati-{token_hex(8)}")
    try:
        created = temporary.open(mode.replace("w", "x"), encoding=encoding)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written, because no file can be created in its folder: {error.strerror}. "
            "Choose another --output."
        ) from None
    try:
        with created:
            _copy_permissions(target, temporary)
            yield created
        _replace(target, temporary)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _copy_permissions(old: Path, new: Path) -> None:
    """Give a file the group, the owner and the mode of another one, as far as possible."""
    with suppress(FileNotFoundError):
        status = old.stat()
        for owner, group in ((-1, status.st_gid), (status.st_uid, -1)):
            with suppress(PermissionError):  # only root may give files to others
                os.chown(new, owner, group)
        shutil.copymode(old, new)


def _replace(target: Path, new: Path) -> None:
    """Put a file into the place of another one.

    What cannot be replaced gets the content: another user's file in a folder such as /tmp, or a file that is
    mounted into a container.
    """
    try:
        new.replace(target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EACCES, errno.EBUSY):
            raise
        shutil.copyfile(new, target)
        new.unlink()


def note_written(what: str, path: str) -> None:
    """Tell the user where a result is, unless it is on standard output."""
    if path != STANDARD_OUTPUT:
        note(f"Wrote {what}{path}.")
