"""Checks of the repository itself: its lock files, its version and its packages."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import literati
from tests.support.paths import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
ALONE = {"audit", "bench-service", "dist"}  # environments of their own, without the library


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def pins(lock: Path) -> dict[str, set[str]]:
    """Return the pinned versions of each distribution; there may be one per range of Python versions."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([a-z0-9-]+)==([^\s;]+)", lock.read_text(), re.MULTILINE):
        found.setdefault(name, set()).add(version)
    return found


def test_every_kind_of_lock_file_is_there() -> None:
    names = ["audit", "bench-service", "bench", "dev", "dist", "interop", "runtime", "service"]
    assert [lock.stem for lock in LOCKS] == names


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_lock_file_names_no_address_and_no_place_on_a_machine(lock: Path) -> None:
    text = lock.read_text()
    assert not re.search(r"\w://|--(extra-)?index-url|--find-links|--trusted-host", text)
    assert not re.search(r"(?:^|\s)(?:/|~/|\.\./)\S", text, re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_pin_has_a_hash(lock: Path) -> None:
    entries = re.split(r"^(?=[a-z0-9])", lock.read_text(), flags=re.MULTILINE)[1:]
    assert entries
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_lock_file_covers_what_is_asked_for(lock: Path) -> None:
    asked = [] if lock.stem in ALONE else list(pyproject()["project"]["dependencies"])
    if lock.with_suffix(".in").exists():
        asked += [line for line in lock.with_suffix(".in").read_text().splitlines() if line[:1].isalpha()]
    names = {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower().replace("_", "-") for line in asked}
    assert names - pins(lock).keys() == set()


def test_lock_files_agree_with_each_other() -> None:
    """`make bench` installs one lock file over another, which must not change the version of a package."""
    bench, dev, interop, runtime, service = (pins(lock) for lock in LOCKS if lock.stem not in ALONE)
    assert {name: service.get(name) for name in runtime} == runtime
    assert {name: dev.get(name) for name in service} == service
    for other in (bench, interop):
        shared = other.keys() & dev.keys()
        assert {name: other[name] for name in shared} == {name: dev[name] for name in shared}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "literati-server=={}"),
        ("Dockerfile", "ARG VERSION={}"),
        ("docker-compose.yml", "literati:{}}}"),
        ("docs/deployment.md", "`literati:{}`"),
        ("docs/deployment.md", " literati:{} celery"),
        ("docs/model-format.md", '"engine_version": "{}"'),
    ],
)
def test_the_version_is_the_current_one(name: str, text: str) -> None:
    assert text.format(literati.__version__) in (ROOT / name).read_text()


def test_package_is_imported_from_one_place() -> None:
    assert Path(literati.__file__).parent.name == "literati"
    assert not (ROOT / "core" / "__init__.py").exists()


@pytest.mark.parametrize("folder", ["tests", "tests/core", "tests/worker", "tests/service", "tests/chaos"])
def test_test_folders_shadow_no_package(folder: str) -> None:
    assert not (ROOT / folder / "__init__.py").exists()
