"""Metrics of the store's server, and what clients are told when it refuses."""

from __future__ import annotations

import re
from typing import Any

from service.ops.server_metrics import StoreClock
from tests.support.http.service_client import problem
from tests.support.records.jobs import add_dataset, easy
from tests.support.stack.stack import Stack, poll


def metric(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found, name
    return float(found[1])


def test_jumps_of_the_clock_are_counted() -> None:
    monotonic = iter([100.0, 115.0, 130.0, 145.0, 160.0])
    clock = StoreClock(lambda: next(monotonic), lambda: 5_000.0)

    def read(store_time: float) -> tuple[float, float]:
        jumps, offset = clock.metrics(store_time)
        return jumps.samples[0].value, offset.samples[0].value

    assert read(5_000.0) == (0, 0.0), "the first reading is no jump"
    assert read(5_019.0) == (0, 19.0), "four seconds more than expected"
    assert read(91_434.0) == (1, 86_434.0), "a day ahead"
    assert read(91_449.0) == (1, 86_449.0)
    assert read(5_064.0) == (2, 64.0), "and back"


def test_the_server_and_the_last_backup(api: Stack) -> None:
    with api.client() as client:
        text = client.get("/metrics").text
        assert metric(text, "literati_store_memory_bytes") > 100_000
        assert metric(text, "literati_store_file_ok") == 1
        assert metric(text, "literati_store_refused") == 0
        assert abs(metric(text, "literati_store_clock_offset_seconds")) < 60
        assert "literati_store_memory_max_bytes" not in text, "there is no limit"
        assert "literati_backup_age_seconds" not in text, "there is no backup"
        api.store.backups.record(api.store.backups.now() - 7_200_000, missing=3)
        text = client.get("/metrics").text
        assert 7200 <= metric(text, "literati_backup_age_seconds") < 7300
        assert metric(text, "literati_backup_missing_blobs") == 3


def test_a_full_memory(api: Stack) -> None:
    admin: Any = api.connection
    dataset = add_dataset(api.store, api.blobs, easy())
    admin.config_set("maxmemory", 100_000)
    try:
        with api.client() as client:
            answer = client.post("/v1/jobs", json={"dataset_id": dataset.id})
            assert "its memory or its disk is full" in problem(answer, 503, "unavailable")["detail"]
            text = client.get("/metrics").text
            assert metric(text, "literati_store_writable") == 0
            assert metric(text, "literati_store_memory_max_bytes") == 100_000
    finally:
        admin.config_set("maxmemory", 0)


def test_a_lost_blob_is_counted(api: Stack) -> None:
    dataset = add_dataset(api.store, api.blobs, easy())
    api.blobs.delete(dataset.blob)
    with api.client() as client:
        problem(client.get(f"/v1/datasets/{dataset.id}/preview"), 404)
        assert metric(client.get("/metrics").text, 'literati_blob_errors_total{error="missing"}') == 1


def test_a_wrong_password(api: Stack) -> None:
    dataset = add_dataset(api.store, api.blobs, easy())
    connection: Any = api.connection.connection_pool.get_connection()

    def run(*words: str) -> None:
        connection.send_command(*words)
        connection.read_response()

    run("CONFIG", "SET", "requirepass", "another")
    try:
        run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        with api.client() as client:
            poll(lambda: client.get("/v1/jobs").status_code == 503, what="a refusal")
            assert "The store refuses this server" in problem(client.get("/v1/jobs"), 503)["detail"]
            # A server answers otherwise to commands with many arguments.
            answer = client.post("/v1/jobs", json={"dataset_id": dataset.id})
            assert "The store refuses this server" in problem(answer, 503)["detail"]
            assert metric(client.get("/metrics").text, "literati_store_refused") == 1
    finally:
        run("CONFIG", "SET", "requirepass", "")
        connection.disconnect()
    with api.client() as client:
        poll(lambda: client.get("/v1/jobs").status_code == 200, what="an answer")
