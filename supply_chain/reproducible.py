"""`make reproducible`: build everything twice, compare, and list what differs.

    python -m supply_chain.reproducible image --engine docker [--options "..."]
    python -m supply_chain.reproducible compare IMAGE IMAGE --engine docker
    python -m supply_chain.reproducible dist python3.11 python3.12

The exit code is 0 only if nothing differs. Of an image, the files are compared with their contents, owners
and modes; then the digests of its layers, which also contain times.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from distributions.build import ROOT, last_change
from distributions.build import main as build_distributions
from supply_chain.image import EngineError, layers, opened

TAGS = ("literati:reproducible-1", "literati:reproducible-2")
MAX_LISTED = 50  # differences
# What makes an engine set the times of all files to SOURCE_DATE_EPOCH.
BUILD = {
    "docker": ("buildx", "build", "--output=type=docker,name={tag},rewrite-timestamp=true"),
    "podman": ("build", "--tag={tag}", "--timestamp={epoch}"),
}
Content = tuple[object, ...]


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    if options.part == "dist":
        return compare_distributions(options.interpreters)
    try:
        images = options.images if options.part == "compare" else build_images(options)
        return compare_images(options.engine, *images)
    except EngineError as error:
        print(error, file=sys.stderr)
        return 2


def build_images(options: argparse.Namespace) -> tuple[str, str]:
    """Build the image twice, without anything of an earlier build."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or last_change()
    if options.engine not in BUILD:
        raise EngineError(f"The engine must be one of {', '.join(BUILD)}, not {options.engine}.")
    for tag in TAGS:
        words = [word.format(tag=tag, epoch=epoch) for word in BUILD[options.engine]]
        command = [options.engine, *words, "--no-cache", f"--build-arg=SOURCE_DATE_EPOCH={epoch}"]
        command += [*shlex.split(options.options), "."]
        print(f"building {tag} ...", flush=True)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, stdout=sys.stderr, check=False)
        except FileNotFoundError:
            raise EngineError(f"`{options.engine}` is not installed.") from None
        if done.returncode:
            raise EngineError(f"The image could not be built: `{shlex.join(command)}` failed.")
    return TAGS


def compare_images(engine: str, first: str, second: str) -> int:
    """Print what differs between two images, and return the exit code."""
    one, other = ({**files_of_image(engine, image)} for image in (first, second))
    code = report(f"files of {first} and {second}", one, other)
    digests = [layers(engine, image) for image in (first, second)]
    same = digests[0] == digests[1]
    print(f"The {len(digests[0])} layers {'are identical' if same else 'differ'}.")
    return code or (0 if same else 1)


def files_of_image(engine: str, image: str) -> dict[str, Content]:
    with opened(engine, image) as archive:
        return files_of(archive)


def files_of(archive: tarfile.TarFile) -> dict[str, Content]:
    """Return type, mode, owner, target and digest of every file of an archive, but not its time."""
    found: dict[str, Content] = {}
    for member in archive:
        content = archive.extractfile(member) if member.isreg() else None
        digest = hashlib.sha256(content.read()).hexdigest() if content else ""
        owner = (member.uid, member.gid)
        found[member.name] = (member.type, member.mode, owner, member.linkname, digest)
    return found


def compare_distributions(interpreters: list[str]) -> int:
    """Build the sdists and the wheels twice in different folders, and compare their bytes."""
    with tempfile.TemporaryDirectory() as folder:
        built = []
        for name in ("first", "second-build"):
            out = Path(folder) / name / "dist"
            build_distributions(interpreters, work=Path(folder) / name / "work", out=out)
            built.append(
                {path.name: (hashlib.sha256(path.read_bytes()).hexdigest(),) for path in out.iterdir()}
            )
    return report("sdists and wheels of two builds", *built)


def report(what: str, one: Mapping[str, Content], other: Mapping[str, Content]) -> int:
    """Print the names whose content differs, and return 1 if there are any."""
    different = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    total = len(one.keys() | other.keys())
    print(f"{what}: {total - len(different):,} of {total:,} are identical.")
    _list(different)
    return 1 if different else 0


def _list(names: Iterable[str]) -> None:
    for place, name in enumerate(names):
        if place == MAX_LISTED:
            print("  ...")
            return
        print(f"  differs: {name}")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m supply_chain.reproducible")
    parts = parser.add_subparsers(dest="part", required=True)
    image = parts.add_parser("image", help="build the image twice and compare")
    image.add_argument("--options", default="", help="more options of the engine's build command")
    compare = parts.add_parser("compare", help="compare two images that exist")
    compare.add_argument("images", nargs=2)
    for part in (image, compare):
        part.add_argument("--engine", default="docker", help="docker or podman")
    dist = parts.add_parser("dist", help="build the sdists and the wheels twice and compare")
    dist.add_argument("interpreters", nargs="+", help="such as python3.11")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
