"""A replicated store for tests: a primary, replicas and sentinels, each a process with a port of its own."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.support.paths import ROOT
from tests.support.stack.stack import poll
from tests.support.stack.tls import Certificate
from worker.processes.parent_death import kill_with_parent
from worker.processes.valkey import find_binary
from worker.store_address import with_passwords

PRIMARY = "mymaster"  # the name by which the sentinels know it
DOWN_AFTER_MS = 1000
FAILOVER_TIMEOUT_MS = 2000  # a failover is not begun within twice this time of the one before
_PROMOTED = re.compile("(MASTER|PRIMARY) MODE enabled")  # in the logs of Redis and of Valkey
SWITCH_SECONDS = 120.0
_SERVER = """\
bind 127.0.0.1
save ""
appendonly yes
appendfsync always
maxmemory-policy noeviction
repl-diskless-sync-delay 0
"""
_TLS = """\
port 0
tls-port {port}
tls-cert-file {certificate.file}
tls-key-file {certificate.key}
tls-ca-cert-file {certificate.file}
tls-auth-clients no
tls-replication yes
"""


class Node:
    """A server or a sentinel. It can be killed and started again."""

    def __init__(
        self, binary: str, folder: Path, certificate: Certificate | None, *words: str, **environment: str
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.port = _free_port()
        self._listen = f"port {self.port}\n"
        if certificate is not None:
            self._listen = _TLS.format(port=self.port, certificate=certificate)
        self.configuration = folder / "node.conf"
        self._command = kill_with_parent([binary, str(self.configuration), *words])
        self._environment = {**os.environ, **environment}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, configuration: str) -> None:
        self.configuration.write_text(f"{self._listen}dir {self.folder}\n{configuration}")
        with (self.folder / "node.log").open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log, env=self._environment)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)


class ReplicatedStore:
    """A context manager of the processes. Its servers and sentinels have passwords of their own."""

    password = "the servers' pass:word/@"
    sentinel_password = "the sentinels' pass&word"

    def __init__(
        self,
        folder: Path,
        *,
        replicas: int = 2,
        sentinels: int = 3,
        binary: str | None = None,
        preferred: dict[str, str] | None = None,  # variables of the server that takes over first
        tls: bool = False,  # which the server must support, as Debian's does
    ) -> None:
        binary = binary or find_binary(folder).path
        folder.mkdir(parents=True, exist_ok=True)
        certificate = Certificate.make(folder) if tls else None
        # The options of clients, and the end of the address.
        self._encryption: dict[str, Any] = {}
        self._options = ""
        if certificate is not None:
            self._encryption = {"ssl": True, "ssl_ca_certs": str(certificate.file)}
            self._options = f"?ssl_ca_certs={quote(str(certificate.file))}"
        # Sentinel prefers the replica whose priority is the lowest number.
        variables = {1: {} if preferred is None else preferred}
        self._priorities = {1: 10} if preferred is not None else {}
        numbers = range(1 + replicas)
        self.servers = [
            Node(binary, folder / f"server-{n}", certificate, **variables.get(n, {})) for n in numbers
        ]
        self.sentinels = [
            Node(binary, folder / f"sentinel-{number}", certificate, "--sentinel")
            for number in range(sentinels)
        ]

    @property
    def address(self) -> str:
        """The address for REDIS_URL, without the passwords."""
        scheme = "rediss" if self._encryption else "redis"
        if not self.sentinels:
            return f"{scheme}://127.0.0.1:{self.servers[0].port}/0{self._options}"
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"{scheme}+sentinel://{hosts}/{PRIMARY}/0{self._options}"

    @property
    def url(self) -> str:
        """The address with the passwords."""
        return with_passwords(self.address, self.password, self.sentinel_password)

    @property
    def environment(self) -> dict[str, str]:
        """The settings of a process that uses this store. The passwords are in files."""
        folder = self.servers[0].folder.parent
        files = {"password": self.password, "sentinel-password": self.sentinel_password}
        for name, text in files.items():
            (folder / name).write_text(f"{text}\n")
        return {
            "REDIS_URL": self.address,
            "LITERATI_REDIS_PASSWORD_FILE": str(folder / "password"),
            "LITERATI_REDIS_SENTINEL_PASSWORD_FILE": str(folder / "sentinel-password"),
        }

    @property
    def settings(self) -> dict[str, str]:
        """The same for WorkerSettings."""
        return {
            name if name == "REDIS_URL" else name.removeprefix("LITERATI_").lower(): value
            for name, value in self.environment.items()
        }

    def client(self, server: Node) -> redis.Redis:
        """Return a client of one server, whatever its role is."""
        once = Retry(NoBackoff(), 0)
        options: dict[str, Any] = {"protocol": 2, "socket_timeout": 5, "retry": once, **self._encryption}
        return redis.Redis("127.0.0.1", server.port, password=self.password, **options)

    def sentinel_client(self, sentinel: Node) -> redis.Redis:
        options: dict[str, Any] = {"protocol": 2, "retry": Retry(NoBackoff(), 0), **self._encryption}
        return redis.Redis("127.0.0.1", sentinel.port, password=self.sentinel_password, **options)

    def start_server(self, server: Node, primary: Node | None) -> None:
        replica = f"replicaof 127.0.0.1 {primary.port}\n" if primary else ""
        secrets = f'requirepass "{self.password}"\nmasterauth "{self.password}"\n'
        priority = f"replica-priority {self._priorities.get(self.servers.index(server), 100)}\n"
        server.start(_SERVER + secrets + replica + priority)

    def primary_of(self, sentinel: Node) -> Node | None:
        """Return the primary that a sentinel names."""
        with self.sentinel_client(sentinel) as client:
            try:
                _, port = client.sentinel_get_master_addr_by_name(PRIMARY)
            except (redis.RedisError, TypeError):
                return None
        return next(server for server in self.servers if server.port == port)

    def primary(self) -> Node:
        """Return the primary that all sentinels name."""

        def agreed() -> Node | None:
            named = {self.primary_of(sentinel) for sentinel in self.sentinels}
            return named.pop() if len(named) == 1 else None

        return poll(agreed, seconds=SWITCH_SECONDS, what="an agreement of the sentinels")

    def begin_failover(self) -> None:
        """Let the sentinels replace the primary, which lives on."""
        self.await_sentinels()

        def begun() -> bool:
            with self.sentinel_client(self.sentinels[0]) as client:
                try:
                    client.execute_command("SENTINEL", "FAILOVER", PRIMARY)
                except redis.ResponseError:  # it has not seen good replicas yet
                    return False
            return True

        poll(begun, seconds=SWITCH_SECONDS, what="the begin of a failover")

    def await_switch(self, old: Node) -> Node:
        """Return the new primary when the sentinels have made one and it takes writes."""

        def switched() -> Node | None:
            named = {self.primary_of(sentinel) for sentinel in self.sentinels}
            new = named.pop() if len(named) == 1 else None
            if new is None or new is old:
                return None
            return new if self.info(new).get("role") == "master" else None

        return poll(switched, seconds=SWITCH_SECONDS, what="a failover")

    def info(self, server: Node) -> dict[str, Any]:
        """Return the section `replication` of a server's INFO; nothing if it does not answer."""
        with self.client(server) as client:
            try:
                answer: Any = client.info("replication")
            except redis.RedisError:
                return {}
        return dict(answer)

    def await_replicas(self, primary: Node | None = None) -> Node:
        """Return the primary when all other servers have its writes.

        Without a given primary it is the one that the sentinels name at that time: on a busy machine they may
        replace it once more.
        """

        def complete() -> Node | None:
            node = primary or self.primary()
            with self.client(node) as client:
                try:
                    client.set("literati:ready", 1)
                    return node if client.wait(len(self.servers) - 1, 1000) == len(self.servers) - 1 else None
                except redis.RedisError:
                    return None

        return poll(complete, seconds=SWITCH_SECONDS, what="the replication to all servers")

    def promotions(self) -> int:
        """Return how often a replica was made a primary, by the logs of the servers."""
        logs = (server.folder / "node.log" for server in self.servers)
        return sum(len(_PROMOTED.findall(log.read_text(errors="replace"))) for log in logs)

    def await_sentinels(self) -> None:
        """Return when every sentinel knows the replicas and the other sentinels."""

        def known(sentinel: Node) -> bool:
            with self.sentinel_client(sentinel) as client:
                state: Any = client.sentinel_master(PRIMARY)
            others = (state["num-slaves"], state["num-other-sentinels"])
            return others == (len(self.servers) - 1, len(self.sentinels) - 1)

        for sentinel in self.sentinels:
            poll(lambda node=sentinel: known(node), seconds=SWITCH_SECONDS, what="sentinels")  # type: ignore[misc]

    def __enter__(self) -> Self:
        first, *replicas = self.servers
        try:
            self.start_server(first, None)
            for replica in replicas:
                self.start_server(replica, first)
            self.await_replicas(first)
            quorum = len(self.sentinels) // 2 + 1
            for sentinel in self.sentinels:
                sentinel.start(
                    f'bind 127.0.0.1\nrequirepass "{self.sentinel_password}"\n'
                    f"sentinel monitor {PRIMARY} 127.0.0.1 {first.port} {quorum}\n"
                    f'sentinel auth-pass {PRIMARY} "{self.password}"\n'
                    f"sentinel down-after-milliseconds {PRIMARY} {DOWN_AFTER_MS}\n"
                    f"sentinel failover-timeout {PRIMARY} {FAILOVER_TIMEOUT_MS}\n"
                    f"sentinel parallel-syncs {PRIMARY} {max(1, len(replicas))}\n"
                )
            if self.sentinels:
                self.primary()
                self.await_sentinels()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        for node in (*self.sentinels, *self.servers):
            if node.process is not None:
                node.kill()


def compile_clock_shift(folder: Path) -> str:
    """Return the path of a library that puts the clock of a process ahead when it is preloaded."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is needed"
    library = folder / "clock_shift.so"
    source = ROOT / "tests" / "chaos" / "clock_shift.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return str(library)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
