"""A state folder that version 0.1.0 left behind opens today, with everything in it.

`tests/data/v0.1.0/make_state.py` made the folder and kept the responses that 0.1.0 gave.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.paths import DATA
from tests.support.stack.embedded import Embedded
from tests.support.stack.stack import poll

Json = dict[str, Any]

FOLDER = DATA / "v0.1.0"
BEFORE: Json = json.loads((FOLDER / "state.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["as it was", "archived"])
def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """Return a client of today's service, which runs on a copy of the folder and its key file."""
    folder = tmp_path_factory.mktemp("earlier")
    with tarfile.open(FOLDER / "state.tar.xz") as archive:
        archive.extractall(folder / "state", filter="data")
    keys = folder / "state" / "keys.json"
    archived = request.param == "archived"
    hours = {"LITERATI_ARCHIVE_AFTER_HOURS": "0" if archived else "inf"}
    with Embedded(folder, LITERATI_API_KEYS_FILE=str(keys), **hours) as embedded:
        headers = {"Authorization": f"Bearer {BEFORE['key']}"}
        url = f"{embedded.wait_until_ready()}/v1"
        if archived:
            poll(lambda: are_archived(embedded), seconds=60, what="the archives of all jobs and models")
        with httpx.Client(base_url=url, headers=headers, timeout=60.0) as client:
            yield client


def are_archived(embedded: Embedded) -> bool:
    """Return whether everything that had ended is in the blobs. They are read from there by every test."""
    redis = embedded.store().client
    keys = [
        f"literati:{kind}:{record['id']}"
        for kind in ("job", "model")
        for record in BEFORE[f"{kind}s"].values()
    ]
    return all(redis.hexists(key, "archive") for key in keys)


def get(client: httpx.Client, path: str) -> Any:
    response = client.get(path)
    assert response.status_code == 200, response.text
    return response.json()


def differences(before: Any, now: Any, path: str = "") -> list[str]:
    """Return where `now` does not say what `before` says. It may say more, and warnings may be reworded."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            place
            for name, value in before.items()
            if not (name == "message" and "/warnings/" in path)
            for place in (
                differences(value, now[name], f"{path}/{name}") if name in now else [f"{path}/{name}: gone"]
            )
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [
            place
            for number, pair in enumerate(zip(before, now, strict=True))
            for place in differences(*pair, f"{path}/{number}")
        ]
    return [] if before == now else [f"{path}: {before!r} is now {now!r}"]


def test_a_key_is_still_required(client: httpx.Client) -> None:
    assert httpx.get(f"{client.base_url}jobs").status_code == 401


@pytest.mark.parametrize("name", BEFORE["datasets"])
def test_a_dataset(client: httpx.Client, name: str) -> None:
    before = BEFORE["datasets"][name]
    assert differences(before, get(client, f"/datasets/{before['id']}")) == []
    assert len(get(client, f"/datasets/{before['id']}/preview?rows=5")["records"]) == 5


@pytest.mark.parametrize("name", BEFORE["jobs"])
def test_a_job_with_its_events_and_its_trace(client: httpx.Client, name: str) -> None:
    before = BEFORE["jobs"][name]
    now = get(client, f"/jobs/{before['id']}")
    assert differences(before, now) == []
    events = get(client, f"/jobs/{before['id']}/events?page_size=1000")
    assert differences(BEFORE["events"][name], events) == []
    trace = get(client, f"/jobs/{before['id']}/trace")
    assert differences(BEFORE["traces"][name], trace) == []
    # Version 0.1.0 did not measure the explored share, but a proof is a share of 1.
    bounds = [now["progress"], *(event["data"] for event in events["items"] if event["type"] == "bound")]
    for entry in bounds:
        assert entry["explored"] == (1.0 if entry["gap_absolute"] == 0 else None)
        assert (entry["seconds_left"], entry["stage"]) == (None, 0)
    for point in trace["points"]:
        assert point["explored"] == (1.0 if point["upper"] == point["lower"] else None)
    assert now["progress"]["space"] == now["proven_space"] == before["parameters"]["candidates"]
    assert (now["parameters"]["n_threads"], now["threads"]) == (1, None)
    tree = get(client, f"/jobs/{before['id']}/incumbent?revision=1")
    assert (tree["stage"], tree["space"]) == (0, before["parameters"]["candidates"])


@pytest.mark.parametrize("name", BEFORE["models"])
def test_a_model_and_its_predictions(client: httpx.Client, name: str) -> None:
    before = BEFORE["models"][name]
    assert differences(before, get(client, f"/models/{before['id']}")) == []
    response = client.post(
        f"/models/{before['id']}/predict?explain=true",
        content=BEFORE["rows"][name],
        headers={"Content-Type": "text/csv"},
    )
    assert response.status_code == 200, response.text
    assert differences(BEFORE["predictions"][name], response.json()) == []
    assert "Proven optimal" in client.get(f"/models/{before['id']}/rules").text


def test_an_alias(client: httpx.Client) -> None:
    assert get(client, "/models/production")["id"] == BEFORE["alias"]["production"]


def test_everything_is_listed(client: httpx.Client) -> None:
    for kind, expected in (
        ("datasets", BEFORE["datasets"].values()),
        ("models", BEFORE["models"].values()),
        ("jobs", [*BEFORE["jobs"].values(), *BEFORE["unfinished"].values()]),
    ):
        found = {item["id"] for item in get(client, f"/{kind}")["items"]}
        assert {item["id"] for item in expected} <= found


@pytest.mark.parametrize("client", ["as it was"], indirect=True)
@pytest.mark.parametrize("name", BEFORE["unfinished"])
def test_a_search_goes_on_where_it_was(client: httpx.Client, name: str) -> None:
    """One was paused; the other was running when the service was stopped, so that it is queued."""
    before = BEFORE["unfinished"][name]
    if name == "paused":
        assert differences(before, get(client, f"/jobs/{before['id']}")) == []
        assert client.post(f"/jobs/{before['id']}/resume").is_success

    def ended() -> Json | None:
        job: Json = get(client, f"/jobs/{before['id']}")
        return job if job["finished_at"] else None

    job = poll(ended, seconds=120, what=f"the end of the {name} job")
    assert (job["state"], job["stop_reason"]) == ("SUCCEEDED", "PROVEN_OPTIMAL")
    assert job["progress"]["expansions"] > before["progress"]["expansions"]
    assert (job["progress"]["explored"], job["progress"]["seconds_left"], job["threads"]) == (1.0, 0.0, 1)
    trace = get(client, f"/jobs/{before['id']}/trace")["points"]
    assert (trace[0]["explored"], trace[-1]["explored"]) == (None, 1.0)
    assert job["progress"]["elapsed_seconds"] > before["progress"]["elapsed_seconds"]
    events = get(client, f"/jobs/{before['id']}/events?page_size=1000")["items"]
    messages = [event["data"]["message"] for event in events if event["type"] == "log"]
    assert len(messages) == 1
    assert "starting again" not in messages[0], "the saved search could be read"
