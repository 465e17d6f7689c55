"""Drills with wrong secrets: the password of the store, and API keys."""

from __future__ import annotations

from typing import Any

import httpx

from tests.drills.lab import Lab, wait


def wrong_keys(lab: Lab) -> None:
    admin: Any = lab.cluster.connection.connection_pool.get_connection()

    def run(*words: str) -> Any:
        admin.send_command(*words)
        return admin.read_response()

    run("CONFIG", "SET", "requirepass", "another")
    run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    lab.refusal(
        wait(lambda: (answer := lab.client.get("/v1/jobs")).status_code == 503 and answer, "a refusal"), 503
    )
    lab.metric("literati_store_refused", lambda value: value == 1)
    lab.metric("literati_store_up", lambda value: value == 0)
    lab.alert("LiteratiStoreRefuses")
    lab.log("api", '"error": "AuthenticationError"')
    lab.log("worker-0", "Authentication required")
    run("AUTH", "another")
    run("CONFIG", "SET", "requirepass", "")
    admin.disconnect()
    lab.metric("literati_store_refused", lambda value: value == 0)
    wait(lambda: lab.client.get("/v1/jobs").status_code == 200, "the API")

    wrong = {"Authorization": f"Bearer lit_{'0' * 8}_{'x' * 43}"}
    with httpx.Client(base_url=lab.cluster.url, headers=wrong, timeout=60.0) as client:
        lab.refusal(client.get("/v1/jobs"), 401)
        assert lab.prometheus is not None
        sampled = lab.prometheus.has_samples
        wait(lambda: sampled('literati_http_requests_total{status="401"}'), "samples of the first refusal")
        for _ in range(200):
            client.get("/v1/jobs")
    lab.alert("LiteratiKeysRefused")
