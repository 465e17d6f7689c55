"""`make pin-images`: write the digests of the third-party images into the Dockerfile and the compose file.

A tag such as `python:3.11-slim-bookworm` can be moved to another image; with `@sha256:...` behind it, the
engine takes only the image that had the tag when this ran. Run it again to move to the present image of each
tag. The digest is computed from the manifest that the registry sends, so it is the digest of all platforms
together.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from supply_chain.image_names import FILES, OURS, PLACE, ImageName, named_images

ROOT = Path(__file__).resolve().parents[1]
# Programs that print the manifest of an image without changing a byte, the preferred first.
PROGRAMS = {
    "skopeo": ("skopeo", "inspect", "--raw", "docker://{full}"),
    "docker": ("docker", "buildx", "imagetools", "inspect", "--raw", "{full}"),
}
SECONDS = 60.0


class NoDigestError(Exception):
    """Why the digest of an image is not known, in a sentence."""


def main(root: Path = ROOT) -> int:
    """Ask for all digests, then write them; if one cannot be learned, nothing is written."""
    images = dict.fromkeys(str(replace(image, digest="")) for _, image in named_images(root))
    try:
        pinned = {name: digest(ImageName.parse(name)) for name in images}
    except NoDigestError as error:
        print(f"{error} Nothing was changed.", file=sys.stderr)
        return 1
    for name in FILES:
        path = root / name
        path.write_text(pin(path.read_text(encoding="utf-8"), pinned), encoding="utf-8")
    for name, found in pinned.items():
        print(f"{name}@{found}")
    return 0


def pin(text: str, digests: Mapping[str, str]) -> str:
    """Return the text of a file with the digest behind every third-party image."""

    def written(place: re.Match[str]) -> str:
        image = ImageName.parse(place["image"])
        if image.name != OURS:
            image = replace(image, digest=digests[str(replace(image, digest=""))])
        return f"{place['before']}{image}"

    return PLACE.sub(written, text)


def digest(image: ImageName) -> str:
    """Ask the registry for the manifest of an image, and return its digest."""
    program = next((name for name in PROGRAMS if shutil.which(name)), None)
    if program is None:
        raise NoDigestError("Install skopeo (Debian: skopeo) or Docker with buildx to ask a registry.")
    command = [word.format(full=full_name(image)) for word in PROGRAMS[program]]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NoDigestError(f"The registry of {image} did not answer in {SECONDS:g} s.") from None
    if done.returncode:
        said = (done.stderr.decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
        raise NoDigestError(f"The digest of {image} is not known: `{program}` says: {said}.")
    try:
        version = json.loads(done.stdout)["schemaVersion"]
    except (ValueError, KeyError, TypeError):
        version = None
    if version != 2:
        raise NoDigestError(f"What `{program}` says of {image} is not a manifest of version 2.")
    return f"sha256:{hashlib.sha256(done.stdout).hexdigest()}"


def full_name(image: ImageName) -> str:
    """Return the name with the registry and the folder that Docker adds to a short one."""
    first, slash, _ = image.name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return str(image)
    return f"docker.io/{'' if slash else 'library/'}{image}"


if __name__ == "__main__":
    sys.exit(main())
