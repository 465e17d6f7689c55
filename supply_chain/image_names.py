"""The third-party images that the Dockerfile and the compose files name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FILES = ("Dockerfile", "docker-compose.yml")
# `ARG BASE=python:3.11` and `image: ${LITERATI_REDIS_IMAGE:-redis:7}`
PLACE = re.compile(r"(?P<before>^ARG BASE=|\bimage: *\$\{\w+:-)(?P<image>[^\s}]+)", re.MULTILINE)
OURS = "literati"


@dataclass(frozen=True)
class ImageName:
    name: str
    tag: str
    digest: str = ""

    @classmethod
    def parse(cls, text: str) -> ImageName:
        """Read `name:tag` or `name:tag@sha256:...`."""
        rest, _, digest = text.partition("@")
        name, _, tag = rest.rpartition(":")
        if not name or "/" in tag:
            raise ValueError(f"{text} has no tag: write name:tag.")
        return cls(name, tag, digest)

    def __str__(self) -> str:
        return f"{self.name}:{self.tag}" + (f"@{self.digest}" if self.digest else "")


def named_images(root: Path) -> list[tuple[str, ImageName]]:
    """Return the files and the third-party images that they name, in their order."""
    return [
        (file, image)
        for file in FILES
        for place in PLACE.finditer((root / file).read_text(encoding="utf-8"))
        if (image := ImageName.parse(place["image"])).name != OURS
    ]
