"""Read the packages of lock files and of a file system, for the lists of components."""

from __future__ import annotations

import base64
import email
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from email.message import Message
from pathlib import Path

from requirements.audit import locked
from supply_chain.image_names import ImageName

ROOT = Path(__file__).resolve().parents[1]
PAGE_LOCK = "service/web/package-lock.json"
DPKG_STATUS = "var/lib/dpkg/status"
OS_RELEASE = "usr/lib/os-release"
MAX_LICENCE_LENGTH = 100  # a longer text is the licence itself and not its name
METADATA = re.compile(r"(.+)/[^/]+\.(?:dist-info/METADATA|egg-info/PKG-INFO)")
COPYRIGHT = re.compile(r"usr/share/doc/([^/]+)/copyright")


@dataclass(frozen=True)
class Package:
    """A package, its kind as in package URLs (`pypi`, `npm`, `deb`, `docker` or `generic`)."""

    kind: str
    name: str
    version: str
    found_in: str
    hashes: tuple[tuple[str, str], ...] = ()  # algorithm and digest of every file that may be installed
    licences: tuple[str, ...] = ()
    qualifiers: tuple[tuple[str, str], ...] = ()
    marker: str = ""  # where it is installed, if not everywhere


def locked_packages(lock: str, licences: Mapping[str, tuple[str, ...]]) -> list[Package]:
    """Return the packages of a file in `requirements`. `licences` has those that are known."""
    return [
        Package(
            "pypi",
            pin.name,
            pin.version,
            lock,
            tuple(("SHA-256", word.removeprefix("--hash=sha256:")) for word in pin.hashes),
            licences.get(pin.name, ()),
            marker=pin.marker,
        )
        for pin in locked((ROOT / lock).read_text(encoding="utf-8"))
    ]


def page_packages() -> list[Package]:
    """Return the npm packages whose code is part of the web page."""
    lock = json.loads((ROOT / PAGE_LOCK).read_text(encoding="utf-8"))
    bundled = {path: about for path, about in lock["packages"].items() if path and not about.get("dev")}
    return [
        Package(
            "npm",
            path.rpartition("node_modules/")[2],
            about["version"],
            PAGE_LOCK,
            tuple(_integrity(about["integrity"])),
            (about["license"],) if "license" in about else (),
        )
        for path, about in bundled.items()
    ]


def _integrity(text: str) -> Iterator[tuple[str, str]]:
    for word in text.split():
        algorithm, _, digest = word.partition("-")
        yield algorithm.upper().replace("SHA", "SHA-"), base64.b64decode(digest).hex()


def installed_licences(environment: Path) -> dict[str, tuple[str, ...]]:
    """Return the licences of the packages that are installed in a virtual environment."""
    files = environment.glob("lib/python*/site-packages/*.dist-info/METADATA")
    found = [email.message_from_string(file.read_text(encoding="utf-8")) for file in files]
    return {normal_name(metadata["Name"]): stated_licences(metadata) for metadata in found}


def stated_licences(metadata: Message) -> tuple[str, ...]:
    """Return the licences in the metadata of a Python package: an expression, a name, or classifiers."""
    if expression := metadata["License-Expression"]:
        return (expression,)
    name = (metadata["License"] or "").strip()
    if name and "\n" not in name and len(name) <= MAX_LICENCE_LENGTH:
        return (name,)
    lines = metadata.get_all("Classifier", [])
    names = {line.rpartition(" :: ")[2] for line in lines if line.startswith("License :: ")}
    return tuple(sorted(names - {"OSI Approved"}))


def normal_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def is_described(path: str) -> bool:
    """Return whether `packages_in_image` reads this file of an image."""
    return bool(path in (DPKG_STATUS, OS_RELEASE) or METADATA.fullmatch(path) or COPYRIGHT.fullmatch(path))


def packages_in_image(files: Mapping[str, bytes], lock: str) -> list[Package]:
    """Return the Debian and Python packages of the files of an image.

    The hashes of a Python package are those of the lock file. dpkg does not keep the hash of the file from
    which it has installed a package.
    """
    return [*_debian_packages(files), *_python_packages(files, lock)]


def interpreter(variables: Mapping[str, str]) -> list[Package]:
    """Return the Python of an image of Docker Hub, which is compiled there and belongs to no package."""
    version = variables.get("PYTHON_VERSION")
    return [Package("generic", "python", version, "PYTHON_VERSION", (), ("PSF-2.0",))] if version else []


def _python_packages(files: Mapping[str, bytes], lock: str) -> Iterator[Package]:
    hashes = {(pin.name, pin.version): pin.hashes for pin in locked_packages(lock, {})}
    for path, content in files.items():
        if place := METADATA.fullmatch(path):
            metadata = email.message_from_string(content.decode())
            name, version = normal_name(metadata["Name"]), metadata["Version"]
            known = hashes.get((name, version), ())
            yield Package("pypi", name, version, f"/{place[1]}", known, stated_licences(metadata))


def _debian_packages(files: Mapping[str, bytes]) -> Iterator[Package]:
    release = files.get(OS_RELEASE, b"").decode()
    known = dict(line.split("=", 1) for line in release.splitlines() if "=" in line)
    distribution = f"{known.get('ID', 'debian')}-{known.get('VERSION_ID', '')}".replace('"', "")
    for paragraph in files.get(DPKG_STATUS, b"").decode().split("\n\n"):
        about = email.message_from_string(paragraph)
        if about["Status"] != "install ok installed":
            continue
        qualifiers = (("arch", about["Architecture"]), ("distro", distribution))
        terms = _copyright_licences(files.get(f"usr/share/doc/{about['Package']}/copyright", b""))
        yield Package(
            "deb", about["Package"], about["Version"], f"/{DPKG_STATUS}", (), terms, qualifiers=qualifiers
        )


def _copyright_licences(content: bytes) -> tuple[str, ...]:
    """Return the licences in Debian's machine-readable form; other copyright files are prose."""
    text = content.decode(errors="replace")
    if not text.startswith("Format:"):
        return ()
    return tuple(sorted({name.strip() for name in re.findall(r"^License:(.*\S)", text, re.MULTILINE)}))


def image_packages(images: Iterable[tuple[str, ImageName]]) -> list[Package]:
    """Return the images that files of the repository name."""
    return [
        Package(
            "docker",
            image.name,
            image.tag,
            file,
            (("SHA-256", image.digest.removeprefix("sha256:")),) if image.digest else (),
        )
        for file, image in images
    ]


def without_repetitions(packages: Iterable[Package]) -> list[Package]:
    """Return every package once. One that was found in several places has all of them."""
    found: dict[tuple[object, ...], Package] = {}
    for package in packages:
        key = (package.kind, package.name, package.version, package.qualifiers)
        before = found.get(key)
        if before is None:
            found[key] = package
        elif package.found_in not in before.found_in.split(", "):
            found[key] = replace(before, found_in=f"{before.found_in}, {package.found_in}")
    return sorted(found.values(), key=lambda package: (package.kind, package.name, package.version))
