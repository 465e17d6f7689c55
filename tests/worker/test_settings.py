"""Test the worker's settings."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from kombu import Connection

from worker.app import broker_settings
from worker.settings import WorkerSettings


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://app@host:6379/0", "redis://app:p%40ss%2Fword@host:6379/0"),
        ("rediss://app:old@host:6379/1?ssl_cert_reqs=required", None),
        ("redis://host", "redis://:p%40ss%2Fword@host"),
        ("unix://app@/run/valkey.sock?db=2", "unix://app:p%40ss%2Fword@/run/valkey.sock?db=2"),
        ("redis://[::1]:6379", "redis://:p%40ss%2Fword@[::1]:6379"),
    ],
)
def test_the_password_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, expected: str | None
) -> None:
    file = tmp_path / "password"
    file.write_text("p@ss/word\n")
    monkeypatch.setenv("REDIS_URL", url)
    assert WorkerSettings().store_url == url
    monkeypatch.setenv("LITERATI_REDIS_PASSWORD_FILE", str(file))
    given = expected or "rediss://app:p%40ss%2Fword@host:6379/1?ssl_cert_reqs=required"
    assert WorkerSettings().store_url == given


def test_no_password_where_the_server_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.setenv("LITERATI_REDIS_PASSWORD_FILE", str(tmp_path / "absent"))
    monkeypatch.setenv("LITERATI_STATE_DIR", str(tmp_path))
    assert WorkerSettings().store_url == f"unix://{tmp_path}/valkey.sock"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("rediss://app@host:6379/0", ssl.CERT_REQUIRED),
        ("rediss://app@host:6379/0?ssl_ca_certs=/etc/ca.crt", ssl.CERT_REQUIRED),
        ("rediss://app@host:6379/0?ssl_cert_reqs=none", ssl.CERT_NONE),
    ],
)
def test_the_broker_checks_certificates_unless_told_not_to(url: str, expected: ssl.VerifyMode) -> None:
    """Without an option in the address, kombu would accept any certificate."""
    with Connection(broker_settings(url)["broker_url"]) as connection:
        options = connection.ssl
    assert isinstance(options, dict)
    assert options["ssl_cert_reqs"] == expected
    assert ("ssl_ca_certs" in options) == ("ssl_ca_certs" in url)
