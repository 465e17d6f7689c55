"""`python -m service.embedded`: everything on one machine: a private store, a worker and the API.

They are started in that order and stopped in the other, started again when they die, and killed by the
system if this supervisor itself is killed. With REDIS_URL set there is no private store.
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

from service.binding import free_port, refuse_strangers
from service.children import Child
from service.settings import Settings
from service.state_folder import StartError, StateFolder
from worker.store import Store, connect
from worker.tether import tethered
from worker.valkey import ValkeyError, ValkeyServer

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 120.0
TICK = 0.1
# Longer than each needs: the API gives requests 5 s, the worker hands its jobs back in 20 s.
STOP_SECONDS = {"API": 10.0, "worker": 30.0, "store": 15.0}
LOG_LINES = 25


class Supervisor:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = StateFolder(settings.state_dir)
        self.children: list[Child] = []  # in the order of their start
        self._server: ValkeyServer | None = None
        self._told_at: float | None = None  # to stop
        self._hurrying = False

    def run(self) -> None:
        self._listen()
        # Keys may be in a store that does not run yet: then the API looks for them when it starts.
        store_exists = self.settings.redis_url is not None or self.folder.valkey.exists()
        refuse_strangers(self.settings, lambda: store_exists)
        self.folder.open()
        try:
            port = free_port(self.settings.host, self.settings.port)
            address = f"http://{_reachable(self.settings.host)}:{port}"
            self._start(port, address)
            if not self.stopping:
                print(f"Literati is ready at {address}", flush=True)
            while not self.stopping:
                for child in self.children:
                    if sentence := child.tend():
                        _say(sentence)
                time.sleep(TICK)
        finally:
            self._stop()

    def _listen(self) -> None:
        signal.signal(signal.SIGINT, self._note)
        signal.signal(signal.SIGTERM, self._note)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as under nohup
            signal.signal(signal.SIGHUP, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._told_at is None:
            self._told_at = now
        elif number == signal.SIGINT and now > self._told_at + 1:
            self._hurrying = True  # a second Ctrl-C: nobody is waited for any more

    @property
    def stopping(self) -> bool:
        return self._told_at is not None

    # Start

    def _start(self, port: int, address: str) -> None:
        if self.settings.redis_url:
            url = self.settings.redis_url  # those who are started read its password themselves
            _check_store(self.settings.store_url)
        else:
            url = self._start_store()
        if self.stopping:
            return
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
            "PYTHONUNBUFFERED": "1",
            "REDIS_URL": url,
            "REMAP_SIGTERM": "SIGQUIT",  # a soft shutdown: jobs are handed back with their last checkpoint
            "LITERATI_STATE_DIR": str(self.folder.path),
            "LITERATI_HOST": self.settings.host,
            "LITERATI_PORT": str(port),
        }
        celery = ["celery", "-A", "worker.app", "worker", "--loglevel=INFO"]
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]  # there is one worker
        worker = self._add("worker", environment, [sys.executable, "-m", *celery, *quiet])
        api = self._add("API", environment, [sys.executable, "-m", "service.server"])
        self._await(lambda: _answers(address), api)
        self._await(lambda: " ready." in worker.output(), worker)

    def _add(self, name: str, environment: dict[str, str], command: list[str]) -> Child:
        child = Child(name, lambda: tethered(command), environment, self.folder.logs / f"{name.lower()}.log")
        self.children.append(child)
        child.start()
        return child

    def _start_store(self) -> str:
        server = ValkeyServer(self.folder.valkey, self.folder.path / "valkey.sock", start=False)
        self._server = server
        server.prepare()
        child = Child("store", lambda: server.command, dict(os.environ), self.folder.logs / "store.log")
        self.children.append(child)
        child.start()
        try:
            server.wait_until_ready(child.process, given_up=lambda: self.stopping)
        except ValkeyError as error:
            raise _failed(child, str(error)) from None
        return server.url

    def _await(self, done: Callable[[], bool], awaited: Child) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self.stopping and not done():
            for child in self.children:
                if child.ended:
                    raise _failed(child, f"The {child.name} ended {child.how} while starting.")
            if time.monotonic() > deadline:
                raise _failed(awaited, f"The {awaited.name} was not ready in {READY_SECONDS:g} s.")
            time.sleep(0.05)

    # Stop

    def _stop(self) -> None:
        for child in reversed(self.children):
            child.stop(STOP_SECONDS[child.name], lambda: self._hurrying)
        if self._server is not None:
            self._server.clean()
        self.folder.close()


def _say(sentence: str) -> None:
    with suppress(OSError):  # nobody reads it any more: no reason to stop
        print(sentence, file=sys.stderr, flush=True)


def _reachable(host: str) -> str:
    """A name under which a server bound to this host answers on this machine."""
    if host in ("0.0.0.0", ""):
        return "127.0.0.1"
    if host == "::":
        return "[::1]"
    return f"[{host}]" if ":" in host else host


def _answers(address: str) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{address}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, http.client.HTTPException):
        return False


def _check_store(url: str) -> None:
    try:
        with connect(url) as client:
            Store(client).ping()
    except (redis.RedisError, ValueError) as error:
        # Not the URL itself: it may hold a password.
        raise StartError(
            f"The store at REDIS_URL cannot be used ({type(error).__name__}: {error})."
        ) from None


def _failed(child: Child, sentence: str) -> StartError:
    lines = child.output().splitlines()[-LOG_LINES:]
    return StartError("\n".join([f"{sentence} The end of {child.log}:", *lines]))


def main() -> int:
    try:
        Supervisor(Settings()).run()
    except ValidationError as error:
        for fault in error.errors():
            name = "_".join(str(part) for part in fault["loc"]).upper()
            print(f"{name if name == 'REDIS_URL' else f'LITERATI_{name}'}: {fault['msg']}.", file=sys.stderr)
        return 1
    except (StartError, ValkeyError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
