"""The packages of an image are read from its files."""

from __future__ import annotations

import email

import pytest

from supply_chain.image_names import ImageName, named_images
from supply_chain.packages import (
    Package,
    image_packages,
    interpreter,
    is_described,
    locked_packages,
    packages_in_image,
    stated_licences,
    without_repetitions,
)
from tests.support.paths import ROOT

LOCK = "requirements/service.txt"
STATUS = b"""Package: libc6
Status: install ok installed
Architecture: amd64
Source: glibc
Version: 2.36-9+deb12u13
Description: C library
 with a text
 .
 in parts

Package: gone
Status: deinstall ok config-files
Architecture: all
Version: 1

Package: tar
Status: install ok installed
Architecture: amd64
Version: 1.34+dfsg-1.2
"""
COPYRIGHT = b"""Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
License: GPL-3+

Files: debian/*
License: GPL-2+
 text of it
"""
SITE = "opt/literati/lib/python3.11/site-packages"


def image() -> dict[str, bytes]:
    pin = next(package for package in locked_packages(LOCK, {}) if package.name == "numpy")
    metadata = f"Name: NumPy\nVersion: {pin.version}\nLicense-Expression: BSD-3-Clause AND MIT\n\nétude"
    return {
        "var/lib/dpkg/status": STATUS,
        "usr/lib/os-release": b'ID=debian\nVERSION_ID="12"\n',
        "usr/share/doc/tar/copyright": COPYRIGHT,
        f"{SITE}/numpy-1.dist-info/METADATA": metadata.encode(),
        f"{SITE}/unlocked-1.dist-info/METADATA": b"Name: un.locked\nVersion: 1\nLicense: MIT\n",
    }


def test_debian_packages() -> None:
    found = {package.name: package for package in packages_in_image(image(), LOCK) if package.kind == "deb"}
    assert found.keys() == {"libc6", "tar"}
    assert found["libc6"].version == "2.36-9+deb12u13"
    assert found["libc6"].qualifiers == (("arch", "amd64"), ("distro", "debian-12"))
    assert found["tar"].licences == ("GPL-2+", "GPL-3+")


def test_python_packages_have_the_hashes_of_the_lock_file() -> None:
    found = {package.name: package for package in packages_in_image(image(), LOCK) if package.kind == "pypi"}
    pin = next(package for package in locked_packages(LOCK, {}) if package.name == "numpy")
    assert found["numpy"].hashes == pin.hashes
    assert len(pin.hashes) > 10
    assert found["numpy"].licences == ("BSD-3-Clause AND MIT",)
    assert found["un-locked"].hashes == ()
    assert found["un-locked"].found_in == f"/{SITE}"


def test_the_interpreter_of_an_official_image() -> None:
    [python] = interpreter({"PATH": "/usr/bin", "PYTHON_VERSION": "3.11.15"})
    assert (python.kind, python.name, python.version) == ("generic", "python", "3.11.15")
    assert interpreter({"PATH": "/usr/bin"}) == []


def test_only_the_files_that_describe_packages_are_read() -> None:
    assert all(map(is_described, image()))
    assert not is_described(f"{SITE}/numpy/METADATA")
    assert not is_described("usr/share/doc/tar/README")


@pytest.mark.parametrize(
    ("lines", "licences"),
    [
        ("License: BSD\nClassifier: License :: OSI Approved :: MIT License", ("BSD",)),
        ("License: a text\n  of several lines\nClassifier: License :: OSI Approved :: X", ("X",)),
        ("Classifier: License :: OSI Approved", ()),
    ],
)
def test_licences_of_old_metadata(lines: str, licences: tuple[str, ...]) -> None:
    assert stated_licences(email.message_from_string(f"Name: a\n{lines}\n")) == licences


def test_the_images_that_run_beside_ours() -> None:
    names = {package.name for package in image_packages(named_images(ROOT))}
    assert {"python", "redis"} <= names
    assert "literati" not in names


def test_a_pinned_image_has_its_digest() -> None:
    digest = f"sha256:{64 * 'a'}"
    name = ImageName.parse(f"localhost:5000/some/redis:7@{digest}")
    assert str(name) == f"localhost:5000/some/redis:7@{digest}"
    [package] = image_packages([("docker-compose.yml", name)])
    assert (package.version, package.hashes) == ("7", (("SHA-256", 64 * "a"),))
    with pytest.raises(ValueError, match="has no tag"):
        ImageName.parse("localhost:5000/redis")


def test_a_package_that_is_found_twice_is_listed_once() -> None:
    first, second = (Package("pypi", "pip", "1", place) for place in ("/usr", "/opt"))
    assert without_repetitions([first, second, first]) == [Package("pypi", "pip", "1", "/usr, /opt")]
