"""`make sbom`: write lists of components (SBOM) in the format CycloneDX for the wheels and the image.

    python -m supply_chain.sbom --environment .venv --engine docker --image literati:0.2.0.dev0
    python -m supply_chain.sbom --contained --out FOLDER

With `--contained` the documents list only what is inside the wheels; `make dist` puts them there.
"""

from __future__ import annotations

import argparse
import os
import runpy
import subprocess
import sys
from pathlib import Path

from supply_chain.document import check, document
from supply_chain.image import EngineError, opened, variables
from supply_chain.image_names import named_images
from supply_chain.packages import (
    ROOT,
    Package,
    image_packages,
    installed_licences,
    interpreter,
    is_described,
    locked_packages,
    packages_in_image,
    page_packages,
    without_repetitions,
)

OUT = ROOT / "build" / "sbom"
LIBRARY_LOCK, SERVICE_LOCK = "requirements/runtime.txt", "requirements/service.txt"
LICENCE = ("MIT",)


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    licences = installed_licences(options.environment)
    contained = {"literati-trees": compiled_in(licences), "literati-server": page_packages()}
    locks = {"literati-trees": LIBRARY_LOCK, "literati-server": SERVICE_LOCK}
    for name, packages in contained.items():
        needed = [] if options.contained else locked_packages(locks[name], licences)
        write(options.out, Package("pypi", name, version(), "", (), LICENCE), [*packages, *needed])
    if options.contained or not options.image:
        return 0
    try:
        write(options.out, *of_image(options.engine, options.image))
    except EngineError as error:
        print(f"There is no document of the image, because it cannot be read. {error}", file=sys.stderr)
        print("`docker compose build` builds it; IMAGE= leaves it out.", file=sys.stderr)
        return 1
    return 0


def compiled_in(licences: dict[str, tuple[str, ...]]) -> list[Package]:
    """Return the packages whose code is in the compiled modules: Cython adds functions of its own."""
    return [package for package in locked_packages(SERVICE_LOCK, licences) if package.name == "cython"]


def of_image(engine: str, image: str) -> tuple[Package, list[Package]]:
    """Return the image and everything in it, with the other images that run beside it."""
    with opened(engine, image) as archive:
        files = {
            name: content.read()
            for member in archive
            if member.isreg() and is_described(name := member.name.removeprefix("./"))
            if (content := archive.extractfile(member))
        }
    name, _, tag = image.rpartition(":")
    inside = [*packages_in_image(files, SERVICE_LOCK), *interpreter(variables(engine, image))]
    packages = [*inside, *page_packages(), *image_packages(named_images(ROOT))]
    return Package("docker", name, tag, "", (), LICENCE), packages


def write(folder: Path, product: Package, packages: list[Package]) -> None:
    """Write the document of a product, checked against the schema, and say what it lists."""
    listed = without_repetitions(packages)
    text = document(product, listed, build_time())
    check(text)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{product.name.rpartition('/')[2]}.cdx.json"
    path.write_text(text, encoding="utf-8")
    print(f"{path.name}: {product.name} {product.version} with {len(listed)} components")


def version() -> str:
    found: str = runpy.run_path(str(ROOT / "core" / "literati" / "_version.py"))["__version__"]
    return found


def build_time() -> int:
    """Return SOURCE_DATE_EPOCH, or the time of the last commit."""
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(epoch)
    command = ["git", "log", "-1", "--format=%ct"]
    return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m supply_chain.sbom")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder of the documents")
    parser.add_argument(
        "--environment", type=Path, default=ROOT / ".venv", help="a virtual environment that knows licences"
    )
    parser.add_argument("--contained", action="store_true", help="list only what the wheels contain")
    parser.add_argument("--engine", default="docker", help="docker or podman")
    parser.add_argument("--image", default="", help="the image; without it, only the wheels are described")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
