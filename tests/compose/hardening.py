"""Checks that the running containers are restricted as docker-compose.yml says."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.compose.engine import Containers, say

LASTING = ("redis", "api", "worker")
SECRETS = re.compile(r"PASSWORD=|SECRET|lit_[0-9a-f]{8}_")
COMPILERS = ("cc", "gcc", "g++", "clang", "ld", "as", "make")


def look(containers: Containers) -> None:
    for service in LASTING:
        (container,) = containers.of(service)
        found = containers.inspect(container)
        _limits(service, found)
        _powers(containers, container)
        _health(containers, container, found)
    (redis,) = containers.of("redis")
    _redis(containers, redis)
    (api,) = containers.of("api")
    _image(containers, api)
    say("hardened as promised, and healthy: " + ", ".join(LASTING))


def _limits(service: str, found: dict[str, Any]) -> None:
    host = found["HostConfig"]
    assert host["ReadonlyRootfs"] is True, service
    assert host["Memory"] > 0, service
    assert 0 < host["PidsLimit"] <= 512, service
    assert host["RestartPolicy"]["Name"] == "unless-stopped", service
    assert host["Privileged"] is False, service
    assert any("no-new-privileges" in option for option in host["SecurityOpt"]), service
    published = {port: places for port, places in (host["PortBindings"] or {}).items() if places}
    assert set(published) == ({"8000/tcp"} if service == "api" else set()), published
    assert all(place["HostIp"] == "127.0.0.1" for places in published.values() for place in places)
    assert not [line for line in found["Config"]["Env"] if SECRETS.search(line)], "a secret in a variable"


def _powers(containers: Containers, container: str) -> None:
    """Read from the kernel what the first process of the container may do."""
    status = dict(
        line.split(":", 1) for line in containers.execute(container, "cat", "/proc/1/status").splitlines()
    )
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0, container
    assert int(status["NoNewPrivs"]) == 1, container
    assert 0 not in map(int, status["Uid"].split()), container
    written = containers.execute(container, "sh", "-c", "touch /etc/mark 2>&1 || echo refused")
    assert "Read-only file system" in written, written


def _health(containers: Containers, container: str, found: dict[str, Any]) -> None:
    """Run the health check, which not every engine does."""
    kind, *words = found["Config"]["Healthcheck"]["Test"]
    containers.execute(container, *(["sh", "-c", *words] if kind == "CMD-SHELL" else words))


def _redis(containers: Containers, container: str) -> None:
    assert "NOAUTH" in containers.execute(container, "redis-cli", "get", "literati:anything")
    words = json.dumps(containers.inspect(container)["Config"]["Cmd"])
    for option in ("--aclfile", '"--appendonly", "yes"', '"--appendfsync", "always"', '"noeviction"'):
        assert option in words, option


def _image(containers: Containers, container: str) -> None:
    asked = " ".join(COMPILERS)
    there = containers.execute(container, "sh", "-c", f"for name in {asked}; do command -v $name; done; true")
    assert not there, there
    labels = containers.inspect(container)["Config"]["Labels"]
    assert labels["org.opencontainers.image.title"] == "Literati"
    assert labels["org.opencontainers.image.licenses"] == "MIT"
