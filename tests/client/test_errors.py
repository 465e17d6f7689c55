"""Errors have types and say what to do."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

from literati.client import (
    AuthenticationError,
    Client,
    ConfigurationError,
    ConflictError,
    Dataset,
    InvalidIdError,
    InvalidRequestError,
    NotFoundError,
    ServerError,
)
from tests.support.http.scripted_server import Answer, ScriptedServer
from tests.support.http.service_client import NOWHERE


def test_a_wrong_parameter(client: Client, dataset: Dataset) -> None:
    with pytest.raises(ValueError, match="max_depth") as caught:
        client.jobs.create(dataset, max_depth=99, time_limit=5)
    error = caught.value
    assert isinstance(error, InvalidRequestError)
    assert (error.status, error.type) == (422, "urn:literati:problem:invalid-request")
    assert error.kind == "invalid-request"
    assert [problem.pointer for problem in error.errors] == ["/body/parameters/max_depth"]
    assert error.errors[0].code == "LESS_THAN_EQUAL"
    assert error.request_id
    assert error.request_id in str(error)
    (fix,) = error.fixes
    assert (fix.part, fix.options) == ("body", {"parameters": {"max_depth": 12}})
    assert "Possible fix: Use 12" in str(error)
    fixed = client.jobs.create(dataset, **fix.options["parameters"], max_expansions=1)
    assert fixed["parameters"]["max_depth"] == 12


def test_an_unknown_parameter_and_a_wrong_limit(client: Client, dataset: Dataset) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        client.jobs.create(dataset, colour="red", time_limit=-1)
    pointers = {problem.pointer for problem in caught.value.errors}
    assert pointers == {"/body/parameters/colour", "/body/limits/time_limit"}


def test_a_row_that_cannot_be_read(client: Client) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        client.datasets.upload(b"a,y\n1,x\n2\n", target="y")
    assert caught.value.errors[0].row == 2
    assert caught.value.errors[0].pointer.startswith("/body/rows/1")


def test_what_is_not_there(client: Client) -> None:
    with pytest.raises(LookupError) as caught:
        client.jobs.get(NOWHERE)
    assert isinstance(caught.value, NotFoundError)
    assert caught.value.kind == "not-found"


def test_ids_are_quoted_in_paths(client: Client) -> None:
    """Without quotes, `?` and `#` would end the path, and the request would be for the list of all jobs."""
    for text in ("?page_size=1", "#", "a b", "%2e%2e", "é", "a\\b"):
        with pytest.raises(NotFoundError, match="There is no such job"):
            client.jobs.get(text)
    with ScriptedServer(Answer(200, {"id": "job_1"}), Answer(204)) as server, Client(server.url) as scripted:
        scripted.jobs.restore("a?b#c d%2Fé")
        scripted.models.aliases.delete("..a")
        assert [asked.path for asked in server.asked] == [
            "/v1/jobs/a%3Fb%23c%20d%252F%C3%A9/restore",
            "/v1/models/aliases/..a",
        ]


def test_text_that_is_no_id_is_not_sent(client: Client, dataset: Dataset) -> None:
    """A server decodes `%2F` and `%2E%2E` before it looks for the route, so quoting them does not help."""
    model = client.jobs.create(dataset, max_depth=1, max_expansions=1).wait()
    client.models.aliases.set("kept", model)
    with pytest.raises(ValueError, match="'aliases/kept' cannot be the id of a record or an alias") as caught:
        client.models.delete("aliases/kept")
    assert isinstance(caught.value, InvalidIdError)
    assert client.models.aliases.list()["kept"] == model.id
    for text in ("", ".", "..", "../jobs", "job_\udcff"):
        with pytest.raises(InvalidIdError):
            client.datasets.restore(text)
    with pytest.raises(InvalidIdError, match="'aliases' cannot be the id"):
        client.models.get("aliases")  # the path of the list of aliases
    with pytest.raises(TypeError, match="Expected the id of a record or an alias as text, got NoneType"):
        client.jobs.get(None)  # type: ignore[arg-type]
    client.models.aliases.delete("kept")


def test_a_state_that_does_not_allow_it(client: Client, endless: Dataset) -> None:
    job = client.jobs.create(endless, max_depth=6)
    with pytest.raises(ConflictError) as caught:
        job.delete()
    assert caught.value.kind == "job-live"
    job.cancel()


def test_errors_can_be_pickled(client: Client) -> None:
    with pytest.raises(NotFoundError) as caught:
        client.jobs.get(NOWHERE)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is NotFoundError
    assert (str(copy), copy.status, copy.request_id) == (str(caught.value), 404, caught.value.request_id)


def test_answers_of_a_proxy() -> None:
    page = Answer(502, b"<html>Bad gateway</html>", {"Content-Type": "text/html"})
    with ScriptedServer(page, Answer(401, [1])) as server, Client(server.url) as client:
        with pytest.raises(ServerError, match=r"Bad Gateway \(status 502\)"):
            client.jobs.get("job_1")
        with pytest.raises(AuthenticationError):
            client.jobs.get("job_1")


def test_servers_that_are_none() -> None:
    moved = Answer(301, {}, {"Location": "https://elsewhere.example/"})
    with ScriptedServer(moved, Answer(200, b"<html>")) as server, Client(server.url) as client:
        with pytest.raises(
            ConfigurationError, match=r"leads to https://elsewhere\.example/; use the address"
        ):
            client.jobs.get("job_1")
        with pytest.raises(ConfigurationError, match="does not answer as Literati does"):
            client.jobs.get("job_1")


def test_tables_that_are_none(client: Client) -> None:
    with pytest.raises(TypeError, match="Expected a path or a pandas, polars or Arrow table"):
        client.datasets.upload(3, target="y")
    with pytest.raises(TypeError, match="must have text as names"):
        client.datasets.upload(pd.DataFrame([[1, 2]]), target="y")
    with pytest.raises(TypeError, match="cannot be converted to Arrow"):
        client.datasets.upload(pd.DataFrame({"a": [1, "x"], "y": [1, 2]}), target="y")
    with pytest.raises(FileNotFoundError):
        client.datasets.upload("no-such-file.csv", target="y")
