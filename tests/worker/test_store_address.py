"""Test the addresses of the store: which are accepted, and what Celery makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from kombu import Connection
from pydantic import ValidationError

from worker.app import broker_settings
from worker.settings import WorkerSettings, explain
from worker.store_address import SentinelAddress, StoreAddressError, sentinel_address

THREE = "redis+sentinel://app:p%40ss@one:26379,two,[::1]:7000/my%20master/3"


def test_the_parts_of_a_sentinel_url() -> None:
    assert sentinel_address(f"{THREE}?sentinel_username=watch&sentinel_password=a%26b") == SentinelAddress(
        hosts=(("one", 26379), ("two", 26379), ("::1", 7000)),
        primary="my master",
        database=3,
        credentials={"username": "app", "password": "p@ss"},
        sentinel_credentials={"username": "watch", "password": "a&b"},
    )
    assert sentinel_address("redis+sentinel://host/name") == SentinelAddress((("host", 26379),), "name")
    encrypted = sentinel_address("rediss+sentinel://host/name?ssl_ca_certs=/etc/ca.crt")
    assert encrypted is not None
    assert encrypted.tls == {"ssl_cert_reqs": "required", "ssl_ca_certs": "/etc/ca.crt"}


@pytest.mark.parametrize(
    "url", ["redis://host", "rediss://u:p@host:1/0?ssl_cert_reqs=none", "unix:///run/a.sock"]
)
def test_one_server_has_no_sentinels(url: str) -> None:
    assert sentinel_address(url) is None


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("host:6379", "must begin with one of redis://"),
        ("http://host", "must begin with one of redis://"),
        ("redis+sentinel://:hidden@one:26379,two:26379", "must name the primary"),
        ("redis+sentinel://:hidden@one:26379,/name", "names with ports, separated by commas"),
        ("redis+sentinel://:hidden@one:70000/name", "names with ports, separated by commas"),
        ("redis+sentinel://:hidden@one two/name", "names with ports, separated by commas"),
        ("redis+sentinel://:hidden@one/name/first", "must be a number"),
        (
            "redis+sentinel://:hidden@one/name?ssl_ca_certs=/ca",
            "option 'ssl_ca_certs'; it may have sentinel_username",
        ),
        ("rediss+sentinel://:hidden@one/name?timeout=3", "option 'timeout'"),
    ],
)
def test_a_malformed_url_is_refused_with_a_sentence(
    url: str, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreAddressError, match=part.replace("(", r"\(")):
        sentinel_address(url)
    monkeypatch.setenv("REDIS_URL", url)
    with pytest.raises(ValidationError) as caught:
        WorkerSettings()
    sentence = explain(caught.value)
    assert sentence.startswith("REDIS_URL: the ")
    assert part in sentence
    assert "hidden" not in sentence
    assert "hidden" not in str(caught.value), "a traceback does not show it either"


def test_the_passwords_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "servers").write_text("p@ss/w,rd\n")
    (tmp_path / "sentinels").write_text("a&b=c\n")
    monkeypatch.setenv("REDIS_URL", "redis+sentinel://app@one:1,two:2/name/1?sentinel_password=old")
    monkeypatch.setenv("LITERATI_REDIS_PASSWORD_FILE", str(tmp_path / "servers"))
    monkeypatch.setenv("LITERATI_REDIS_SENTINEL_PASSWORD_FILE", str(tmp_path / "sentinels"))
    address = sentinel_address(WorkerSettings().store_url)
    assert address is not None
    assert address.hosts == (("one", 1), ("two", 2))
    assert address.credentials == {"username": "app", "password": "p@ss/w,rd"}
    assert address.sentinel_credentials == {"password": "a&b=c"}


def test_celery_gets_every_sentinel_with_the_credentials() -> None:
    settings = broker_settings(f"{THREE}?sentinel_password=secret")
    with Connection(
        settings["broker_url"], transport_options=settings["broker_transport_options"]
    ) as connection:
        assert [(each.hostname, each.port) for each in map(Connection, connection.alt)] == [
            ("one", 26379),
            ("two", 26379),
            ("::1", 7000),
        ]
        assert (connection.userid, connection.password, connection.virtual_host) == ("app", "p@ss", "3")
    assert settings["broker_transport_options"]["master_name"] == "my master"
    assert settings["broker_transport_options"]["sentinel_kwargs"]["password"] == "secret"
    assert settings["broker_use_ssl"] is False


def test_celery_checks_certificates_of_sentinels_and_servers() -> None:
    settings = broker_settings("rediss+sentinel://one/name?ssl_ca_certs=/etc/ca.crt")
    expected = {"ssl_cert_reqs": "required", "ssl_ca_certs": "/etc/ca.crt"}
    assert settings["broker_use_ssl"] == expected
    assert {"ssl": True, **expected}.items() <= settings["broker_transport_options"][
        "sentinel_kwargs"
    ].items()
