from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from service.auth.key_file import Scope, add
from service.errors import StartError
from service.listen_address import check_api_keys, free_port
from service.settings import Settings
from service.supervisor.state_folder import StateFolder
from tests.support.paths import ROOT


def test_a_new_folder_is_private_and_has_a_version(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path / "a" / "b")
    folder.open()
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert (folder.path / "VERSION").read_text() == "2\n"
    assert folder.logs.is_dir()
    folder.close()
    folder.open()
    folder.close()


def test_an_existing_folder_becomes_private(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "keys.json").write_text("{}")
    tmp_path.chmod(0o755)
    folder = StateFolder(tmp_path)
    folder.open()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    folder.close()


@pytest.mark.parametrize("version", ["3", "", "one", "1.5", "\x00\xff"])
def test_an_unknown_version_is_refused_and_left_as_it_is(tmp_path: Path, version: str) -> None:
    (tmp_path / "VERSION").write_text(version)
    with pytest.raises(StartError, match="start the version that wrote it"):
        StateFolder(tmp_path).open()
    assert (tmp_path / "VERSION").read_text() == version
    assert not (tmp_path / "logs").exists()


def test_a_folder_of_the_first_version_is_upgraded(tmp_path: Path) -> None:
    (tmp_path / "VERSION").write_text("1\n")
    folder = StateFolder(tmp_path)
    folder.open()
    folder.close()
    assert (tmp_path / "VERSION").read_text() == "2\n", "an older program refuses it from now on"


def test_a_folder_with_other_content_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Documents").mkdir()
    mode = tmp_path.stat().st_mode
    with pytest.raises(StartError, match="is not a state folder"):
        StateFolder(tmp_path).open()
    assert tmp_path.stat().st_mode == mode
    assert [entry.name for entry in tmp_path.iterdir()] == ["Documents"]


def test_a_folder_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StartError, match=r"cannot be used .*LITERATI_STATE_DIR"):
            StateFolder(path).open()


def test_the_lock_ends_with_the_process(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path\n"
        "from service.supervisor.state_folder import StateFolder\n"
        "folder = StateFolder(Path(sys.argv[1])); folder.open(); print('open', flush=True); time.sleep(600)"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "open\n"
        with pytest.raises(StartError, match=f"process {owner.pid}"):
            StateFolder(tmp_path).open()
    finally:
        owner.kill()
        owner.communicate()
    folder = StateFolder(tmp_path)
    folder.open()
    folder.close()


def settings(**fields: object) -> Settings:
    return Settings.model_validate(fields)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.9.1"])
def test_loopback_needs_no_key(host: str) -> None:
    check_api_keys(settings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org", ""])
def test_other_hosts_need_a_key(host: str, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    for without in (settings(host=host), settings(host=host, api_keys_file=file)):
        with pytest.raises(StartError, match=r"python -m service\.keys .*add NAME"):
            check_api_keys(without)
    add(file, "me", "default", frozenset(Scope))
    check_api_keys(settings(host=host, api_keys_file=file))


def test_a_free_port_is_found() -> None:
    port = free_port("127.0.0.1", 0)
    assert free_port("127.0.0.1", port) == port


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(StartError, match="LITERATI_HOST"):
        free_port("192.0.2.1", 0)
    with pytest.raises(StartError, match="LITERATI_HOST"):
        free_port("no-such-host.invalid", 0)
