"""HAProxy with the configuration in docs/deployment.md, on free ports of this machine."""

from __future__ import annotations

import csv
import re
import socket
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.paths import ROOT
from tests.support.stack.stack import poll
from worker.processes.parent_death import kill_with_parent

_CONFIGURATION = re.compile(r"```haproxy\n(.*?)```", re.DOTALL)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Balancer:
    """A running HAProxy. `ports` are those of its servers api1, api2 and so on."""

    def __init__(self, folder: Path, ports: list[int]) -> None:
        self.socket = folder / "admin.sock"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "haproxy.log"
        file = folder / "haproxy.cfg"
        file.write_text(self._configuration(ports))
        command = kill_with_parent(["haproxy", "-db", "-f", str(file)])
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def _configuration(self, ports: list[int]) -> str:
        """Return the documented configuration with other addresses."""
        found = _CONFIGURATION.search((ROOT / "docs" / "deployment.md").read_text())
        assert found, "docs/deployment.md has a configuration of HAProxy"
        addresses = {"/run/haproxy/admin.sock": str(self.socket), "bind :8080": f"bind 127.0.0.1:{self.port}"}
        addresses |= {f"10.0.0.{i}:8000": f"127.0.0.1:{port}" for i, port in enumerate(ports, 1)}
        text = found[1]
        for documented, used in addresses.items():
            assert text.count(documented) == 1, documented
            text = text.replace(documented, used)
        return text

    def servers(self) -> dict[str, dict[str, str]]:
        """Return the figures of every server of the backend by its name."""
        with socket.socket(socket.AF_UNIX) as admin:
            admin.connect(str(self.socket))
            admin.sendall(b"show stat\n")
            text = b"".join(iter(lambda: admin.recv(65_536), b"")).decode()
        rows = csv.DictReader(text.removeprefix("# ").splitlines())
        return {row["svname"]: row for row in rows if row["svname"].startswith("api")}

    def retries(self) -> int:
        """Return how often a connection was tried again or moved to another server."""
        return sum(int(server["wretr"]) + int(server["wredis"]) for server in self.servers().values())

    def wait_until_up(self, *names: str) -> None:
        """Wait until HAProxy sends requests to these servers."""

        def look() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            if not self.socket.exists():
                return False
            found = self.servers()
            return all(found[name]["status"].startswith("UP") for name in names)

        poll(look, seconds=60, what=f"{', '.join(names)} being up")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.terminate()
        self.process.wait()
