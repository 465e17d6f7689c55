"""What the wheels of both distributions contain and require, without compiled modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import literati
from tests.support.paths import ROOT
from tests.support.wheels import Wheel, expected_library, expected_server

SERVER = ROOT / "distributions" / "server"
VERSION = literati.__version__


def build(folder: Path, out: Path) -> Wheel:
    """Build a wheel without leaving anything in the folder of its sources."""
    subprocess.run(
        [
            *(sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(out)),
            *("build", "--build-base", str(out / "build")),
            *("bdist_wheel", "--bdist-dir", str(out / "wheel"), "--dist-dir", str(out)),
        ],
        cwd=folder,
        env=os.environ | {"LITERATI_NO_EXTENSIONS": "1"},
        check=True,
    )
    [path] = out.glob("*.whl")
    return Wheel(path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Wheel:
    return build(SERVER, tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Wheel:
    return build(ROOT, tmp_path_factory.mktemp("library"))


def test_the_server_has_the_service_the_worker_the_page_and_the_scripts(server: Wheel) -> None:
    assert server.code == expected_server()
    assert "literati_server/service/web/index.html" in server.code
    assert "literati_server/worker/store/lua/shared/sweeps.lua" in server.code


def test_the_server_is_one_package_for_every_platform(server: Wheel) -> None:
    assert {name.partition("/")[0] for name in server.code} == {"literati_server"}
    assert server.path.name == f"literati_server-{VERSION}-py3-none-any.whl"


def test_the_server_requires_the_library_and_what_the_service_needs(server: Wheel) -> None:
    asked = (ROOT / "requirements" / "service.in").read_text().splitlines()
    lines = [line.partition("  #")[0] for line in asked if line[:1].isalpha()]
    assert server.requirements() == [f"literati-trees=={VERSION}", *lines]
    assert not {"cython", "setuptools"} & {line.partition(">")[0] for line in lines}


def test_the_commands_of_the_server(server: Wheel) -> None:
    assert server.entry_points == {
        "console_scripts": {"literati-server": "literati_server.cli:main"},
        "literati.commands": {"serve": "literati_server.cli:serve"},
    }


def test_the_library_has_its_modules_types_and_nothing_else(library: Wheel) -> None:
    assert library.code == expected_library()
    assert "literati/py.typed" in library.code


def test_the_extra_requires_the_server_of_the_same_version(library: Wheel) -> None:
    assert f'literati-server=={VERSION}; extra == "service"' in library.requirements()
    assert library.metadata["Version"] == VERSION
