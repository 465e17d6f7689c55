"""Run the service on one machine: a private store, a worker and the API server.

They start in that order and stop in reverse order. They are restarted when they die, and the kernel kills
them if the supervisor is killed. If REDIS_URL is set, there is no private store.
"""

from __future__ import annotations

import http.client
import os
import signal
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import redis
from pydantic import ValidationError

from service.errors import StartError
from service.listen_address import check_api_keys, free_port
from service.settings import Settings
from service.supervisor.state_folder import StateFolder
from service.supervisor.supervised_process import SupervisedProcess
from worker.domain.errors import StoreFormatError
from worker.processes.parent_death import kill_with_parent
from worker.processes.valkey import ValkeyError, ValkeyServer
from worker.settings import explain
from worker.store import Store
from worker.store.client import connect

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 120.0
POLL_SECONDS = 0.1
# The API gives requests 5 s and the worker returns its jobs to the queue within 20 s.
STOP_SECONDS = {"API": 10.0, "worker": 30.0, "store": 15.0}
LOG_LINES = 25  # shown of a process that fails at the start


class Supervisor:
    """The processes of the service, from their start until a signal stops them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = StateFolder(settings.state_dir)
        self.processes: list[SupervisedProcess] = []  # in the order of their start
        self._server: ValkeyServer | None = None
        self._signalled_at: float | None = None
        self._skip_wait = False

    def run(self) -> None:
        """Run until a signal arrives. Raise a StartError if a process does not start."""
        self._handle_signals()
        # Keys may be in a store that does not run yet; the API checks them when it starts.
        store_exists = self.settings.redis_url is not None or self.folder.valkey.exists()
        check_api_keys(self.settings, lambda: store_exists)
        self.folder.open()
        try:
            port = free_port(self.settings.host, self.settings.port)
            address = f"http://{_reachable(self.settings.host)}:{port}"
            self._start(port, address)
            if not self.stopping:
                print(f"Literati is ready at {address}", flush=True)
            while not self.stopping:
                for process in self.processes:
                    if message := process.poll():
                        _print_error(message)
                time.sleep(POLL_SECONDS)
        finally:
            self._stop()

    def _handle_signals(self) -> None:
        signal.signal(signal.SIGINT, self._on_signal)
        signal.signal(signal.SIGTERM, self._on_signal)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup ignores it
            signal.signal(signal.SIGHUP, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._signalled_at is None:
            self._signalled_at = now
        elif number == signal.SIGINT and now > self._signalled_at + 1:
            self._skip_wait = True  # a second Ctrl-C

    @property
    def stopping(self) -> bool:
        return self._signalled_at is not None

    # Start

    def _start(self, port: int, address: str) -> None:
        if self.settings.redis_url:
            url = self.settings.redis_url  # the processes read the password file themselves
            _check_store(self.settings.store_url)
        else:
            url = self._start_store()
            if not self.stopping:
                _check_store(url)
        if self.stopping:
            return
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
            "PYTHONSAFEPATH": "1",  # the current folder may have a `service` or a `worker` of its own
            "PYTHONUNBUFFERED": "1",
            "REDIS_URL": url,
            "REMAP_SIGTERM": "SIGQUIT",  # Celery's soft shutdown, in which jobs return to the queue
            "LITERATI_STATE_DIR": str(self.folder.path),
            "LITERATI_HOST": self.settings.host,
            "LITERATI_PORT": str(port),
        }
        options = ["--without-gossip", "--without-mingle", "--without-heartbeat"]  # there is one worker
        python = kill_with_parent([sys.executable, "-m"])
        worker = self._add("worker", environment, [*python, "worker", "--loglevel=INFO", *options])
        api = self._add("API", environment, [*python, "service.server"])
        self._await(lambda: _is_ready(address), api)
        self._await(lambda: " ready." in worker.output(), worker)

    def _add(self, name: str, environment: dict[str, str], command: list[str]) -> SupervisedProcess:
        log = self.folder.logs / f"{name.lower()}.log"
        process = SupervisedProcess(name, command, environment, log)
        self.processes.append(process)
        process.start()
        return process

    def _start_store(self) -> str:
        server = ValkeyServer(self.folder.valkey, self.folder.path / "valkey.sock", start=False)
        self._server = server
        server.prepare()
        process = self._add("store", dict(os.environ), server.command)
        try:
            server.wait_until_ready(process.process, cancelled=lambda: self.stopping)
        except ValkeyError as error:
            raise _failed(process, str(error)) from None
        return server.url

    def _await(self, done: Callable[[], bool], awaited: SupervisedProcess) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self.stopping and not done():
            for process in self.processes:
                if process.ended:
                    raise _failed(process, f"The {process.name} {process.exit_reason} while starting.")
            if time.monotonic() > deadline:
                raise _failed(awaited, f"The {awaited.name} was not ready in {READY_SECONDS:g} s.")
            time.sleep(0.05)

    # Stop

    def _stop(self) -> None:
        for process in reversed(self.processes):
            drain = self.settings.drain_seconds if process.name == "API" else 0.0
            process.stop(STOP_SECONDS[process.name] + drain, lambda: self._skip_wait)
        if self._server is not None:
            self._server.remove_socket()
        self.folder.close()


def _print_error(message: str) -> None:
    with suppress(OSError):  # the terminal may be closed
        print(message, file=sys.stderr, flush=True)


def _reachable(host: str) -> str:
    """Return the host of a URL at which a server on this address can be reached from this machine."""
    if host in ("0.0.0.0", ""):
        return "127.0.0.1"
    if host == "::":
        return "[::1]"
    return f"[{host}]" if ":" in host else host


def _is_ready(address: str) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{address}/readyz", timeout=5) as response:
            return bool(response.status == 200)
    except (OSError, http.client.HTTPException):
        return False


def _check_store(url: str) -> None:
    try:
        with connect(url) as client:
            store = Store(client)
            store.ping()
            store.format.check()
    except StoreFormatError as error:
        raise StartError(str(error)) from None
    except (redis.RedisError, ValueError) as error:
        # The URL may contain a password, so the message does not show it.
        reason = f"{type(error).__name__}: {error}"
        raise StartError(
            f"The store at REDIS_URL cannot be used ({reason}); start it, or correct the URL."
        ) from None


def _failed(process: SupervisedProcess, message: str) -> StartError:
    lines = process.output().splitlines()[-LOG_LINES:]
    return StartError("\n".join([f"{message} The end of {process.log}:", *lines]))


def main() -> int:
    """Run the supervisor and return its exit status."""
    try:
        Supervisor(Settings()).run()
    except ValidationError as error:
        print(explain(error), file=sys.stderr)
        return 1
    except (StartError, ValkeyError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
