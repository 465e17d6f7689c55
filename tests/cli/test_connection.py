"""Addresses and configuration files that cannot be used are told in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://h:80a", "Port could not be cast to integer value as '80a'"),
        ("http://h:99999", "Port out of range"),
        ("http://[::1", "Invalid IPv6 URL"),
        ("http://a..b", "label empty or too long"),
        ("http://192.168.1.300:8000", "Invalid IPv4 address"),
        ("http://h\x01", "cannot be printed"),
        ("h:80", "Expected an address such as http://127.0.0.1:8000"),
    ],
)
def test_addresses(run: Run, url: str, words: str) -> None:
    result = run("jobs", "list", "--url", url, code=2)
    assert words in result.stderr
    assert result.stderr.startswith("Error: ")
    assert "such as http://127.0.0.1:8000" in result.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("profiles = 3", "`profiles` must consist of tables; write [profiles.NAME]"),
        ('profiles = ["lab"]', "`profiles` must consist of tables"),
        ("[profiles]\nlab = 3", "`profiles` must consist of tables"),
        ('[profiles]\nlab = "url"', "`profiles` must consist of tables"),
        ("[profiles.lab]\nurl = 3", "'url' must be text"),
        ("[profiles.lab]\napi_key = []", "'api_key' must be text"),
        ('[profiles.lab]\nurl = "http://h:80a"', "Port could not be cast"),
        ("[profiles.home]", "has no profile 'lab'; it has home"),
        ("profiles", "cannot be read"),
        (b"\xff", "cannot be read"),
        (None, "There is no configuration file"),
    ],
)
def test_profiles(run: Run, tmp_path: Path, text: str | bytes | None, words: str) -> None:
    if text is not None:
        (tmp_path / "config.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    result = run("jobs", "list", "--profile", "lab", code=2)
    assert words in result.stderr
    assert result.stderr.startswith("Error: ")


def test_a_folder_instead_of_the_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    assert "Is a directory" in run("jobs", "list", code=2).stderr
