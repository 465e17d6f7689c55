"""Where the address and the key come from."""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path

import pytest

from literati.client import Client, ConfigurationError
from literati.client.config import Connection, find_connection

FILE = """
url = "https://one.example/"
api_key = "lit_file"

[profiles.lab]
url = "https://lab.example/literati/v1"
api_key = "lit_lab"
"""


@pytest.fixture
def config(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "client.toml"
    path.write_text(FILE)
    return {"LITERATI_CONFIG": str(path)}


def test_the_default_is_this_machine(tmp_path: Path) -> None:
    found = find_connection(environment={"XDG_CONFIG_HOME": str(tmp_path)})
    assert found == Connection("http://127.0.0.1:8000", "the default", None)


def test_the_order_of_sources(config: dict[str, str]) -> None:
    environment = {**config, "LITERATI_URL": "http://two.example", "LITERATI_API_KEY": "lit_environment"}
    given = find_connection("http://three.example", "lit_argument", environment=environment)
    assert (given.url, given.api_key) == ("http://three.example", "lit_argument")
    from_environment = find_connection(environment=environment)
    assert (from_environment.url, from_environment.source) == ("http://two.example", "LITERATI_URL")
    assert from_environment.api_key == "lit_environment"
    from_file = find_connection(environment=config)
    assert (from_file.url, from_file.api_key) == ("https://one.example", "lit_file")
    assert from_file.source == config["LITERATI_CONFIG"]


def test_a_profile_is_used_whole(config: dict[str, str]) -> None:
    environment = {**config, "LITERATI_URL": "http://two.example", "LITERATI_API_KEY": "lit_environment"}
    lab = find_connection(profile="lab", environment=environment)
    assert (lab.url, lab.api_key) == ("https://lab.example/literati", "lit_lab")
    assert find_connection(environment={**environment, "LITERATI_PROFILE": "lab"}) == lab


def test_the_key_of_the_file_goes_to_its_own_address_only(config: dict[str, str]) -> None:
    assert find_connection("https://one.example", environment=config).api_key == "lit_file"
    assert find_connection("https://other.example", environment=config).api_key is None
    environment = {**config, "LITERATI_URL": "https://other.example"}
    assert find_connection(environment=environment).api_key is None


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("localhost:8000", "Expected an address such as"),
        ("ftp://host", "Expected an address such as"),
        ("http://host?x=1", "Expected an address such as"),
        ("http://user:secret@host", "contains a password"),
    ],
)
def test_addresses_that_cannot_be_used(url: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        Client(url)


def test_configuration_files_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "client.toml"
    environment = {"LITERATI_CONFIG": str(path)}
    with pytest.raises(ConfigurationError, match="no configuration file"):
        find_connection(profile="lab", environment=environment)
    path.write_text("url = 3")
    with pytest.raises(ConfigurationError, match="'url' must be text"):
        find_connection(environment=environment)
    path.write_text("url =")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        find_connection(environment=environment)
    path.write_text(FILE)
    with pytest.raises(ConfigurationError, match="no profile 'home'; it has lab"):
        find_connection(profile="home", environment=environment)
    with pytest.raises(ConfigurationError, match="copy it again"):
        Client("http://host", "lit_a b")


def test_the_key_is_not_shown_and_not_pickled() -> None:
    with Client("http://host:1", "lit_secret") as client:
        assert "secret" not in repr(client) + repr(vars(client))
        assert b"secret" not in pickle.dumps(client)
        assert deepcopy(client) is client
        with pickle.loads(pickle.dumps(client)) as copy:
            assert (copy.url, copy._transport.connection.api_key) == ("http://host:1", None)
