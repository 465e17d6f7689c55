"""Test the service on a server like a managed one: it has TLS and refuses the commands of administrators."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
import redis

from tests.support.http.service_client import submit
from tests.support.records.jobs import add_dataset, easy
from tests.support.stack.stack import Stack, poll
from tests.support.stack.tls import Certificate, TlsEndpoint

pytestmark = [
    pytest.mark.stack,
    pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl (Debian: apt-get install openssl)"),
]
# What Amazon ElastiCache, Google Memorystore or Azure Cache for Redis list as restricted or blocked. CLIENT
# and COMMAND are among the commands that Memorystore blocks.
REFUSED = (
    *(
        "acl",
        "bgrewriteaof",
        "bgsave",
        "client",
        "cluster",
        "command",
        "config",
        "debug",
        "failover",
        "lastsave",
    ),
    *("migrate", "module", "monitor", "object", "psync", "replicaof", "save", "shutdown", "slaveof", "sync"),
)


@pytest.fixture(scope="module")
def managed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("managed")
    certificate = Certificate.make(folder)
    stack = Stack(folder, LITERATI_RECONCILE_SECONDS="1")
    with TlsEndpoint(stack.server.socket, certificate) as endpoint, stack:
        admin: Any = stack.connection
        refused = [f"-{name}" for name in REFUSED]
        admin.execute_command("ACL", "SETUSER", "tenant", "on", ">secret", "~*", "&*", "+@all", *refused)
        address = f"rediss://tenant:secret@localhost:{endpoint.port}/0"
        stack.environment["REDIS_URL"] = f"{address}?ssl_ca_certs={quote(str(certificate.file))}"
        stack.start_worker()
        stack.start_api()
        yield stack


def test_a_job_runs_without_administrative_commands(managed: Stack) -> None:
    admin: Any = managed.connection
    with managed.client() as client:
        job = submit(client, add_dataset(managed.store, managed.blobs, easy()))["id"]
        poll(lambda: client.get(f"/v1/jobs/{job}").json()["state"] == "SUCCEEDED", what="the job's end")
        assert client.get("/readyz").status_code == 200
        assert client.get("/metrics").status_code == 200
        assert client.delete(f"/v1/jobs/{job}").status_code == 204
    refused = {entry[entry.index(b"object") + 1] for entry in admin.execute_command("ACL", "LOG", 1000)}
    assert refused <= {b"client|setinfo", b"client|setname"}, "redis-py names itself if it may"


def test_these_commands_are_refused(managed: Stack) -> None:
    with redis.Redis.from_url(managed.environment["REDIS_URL"]) as client:
        for words in ("CONFIG GET dir", "BGSAVE", "SHUTDOWN NOSAVE", "ACL LIST"):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*words.split())


def test_an_unknown_certificate_is_refused(managed: Stack) -> None:
    address = managed.environment["REDIS_URL"].partition("?")[0]
    with (
        redis.Redis.from_url(address) as client,
        pytest.raises(redis.exceptions.ConnectionError, match="certificate verify failed"),
    ):
        client.ping()
