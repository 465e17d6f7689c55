"""The files that `literati fit` writes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from literati.cli.errors import InputError
from literati.cli.output_files import open_output
from literati.tree.model import ShapeTree

MODEL = "model.json"
DRAWING = "tree.svg"
# What the beginning of a file of the same name must contain, so that it is replaced.
_MARKS = {MODEL: b'"format":"literati-tree"', DRAWING: b"<title>Shape tree"}


@dataclass(frozen=True)
class ModelFiles:
    """The places of a model and of its drawing."""

    model: Path
    drawing: Path

    @classmethod
    def prepare(cls, folder: str) -> Self:
        """Create the folder. Raise InputError if the files cannot be written."""
        home = Path(folder)
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--output: the folder {home} cannot be created: {error.strerror}.") from None
        if not os.access(home, os.W_OK):
            raise InputError(f"--output: the folder {home} is not writable; choose another one.")
        for name, mark in _MARKS.items():
            path = home / name
            if path.is_dir():
                raise InputError(f"{path} is a folder; choose another --output.")
            if path.is_file() and mark not in path.read_bytes()[:1000]:
                raise InputError(
                    f"{path} exists and was not written by `literati fit`; choose another --output."
                )
        return cls(home / MODEL, home / DRAWING)

    def write(self, tree: ShapeTree) -> None:
        """Write both files, each as a whole or not at all."""
        for path, text in ((self.model, tree.to_json() + "\n"), (self.drawing, tree.to_svg())):
            with open_output(path, "w") as file:
                file.write(text)
