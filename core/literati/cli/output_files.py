"""Files that commands write: each is replaced as a whole, or left as it was."""

from __future__ import annotations

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
            yield created
        _copy_permissions(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _copy_permissions(old: Path, new: Path) -> None:
    """Give a file the owner and the mode of another one, if there is one."""
    with suppress(FileNotFoundError):
        status = old.stat()
        with suppress(PermissionError):  # only root may give files to others
            os.chown(new, status.st_uid, status.st_gid)
        shutil.copymode(old, new)


def note_written(what: str, path: str) -> None:
    """Tell the user where a result is, unless it is on standard output."""
    if path != STANDARD_OUTPUT:
        note(f"Wrote {what}{path}.")
