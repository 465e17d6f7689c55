"""`python -m service.server`: run the API server by itself, on LITERATI_HOST and LITERATI_PORT."""

from __future__ import annotations

import asyncio
import gc
import resource
import signal
import socket
import sys
from contextlib import suppress
from types import FrameType

import redis
import uvicorn
from pydantic import ValidationError

from service.app import create_app
from service.auth.key_store import KeyStore
from service.dependencies import Services
from service.errors import StartError
from service.http.protocol import protocol_class
from service.listen_address import check_api_keys
from service.settings import Settings
from worker import logs
from worker.domain.errors import StoreFormatError
from worker.settings import explain
from worker.store import Store
from worker.store.client import connect

_SHUTDOWN_SECONDS = 5  # for requests in progress
_MAX_FILES = 1 << 20  # open files that the process may have if the system allows it


class Server(uvicorn.Server):
    """A uvicorn server that ends waiting requests as soon as it stops.

    With LITERATI_DRAIN_SECONDS, the first SIGTERM only makes it not ready, and it stops that much later.
    """

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services
        self._drain_seconds = services.settings.drain_seconds
        self._loop: asyncio.AbstractEventLoop | None = None  # while it runs

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and exclude what exists from garbage collection, which would pause requests for 60 ms."""
        await super().startup(sockets)
        self._loop = asyncio.get_running_loop()
        gc.collect()
        gc.freeze()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._services.readiness.drain()
        if sig == signal.SIGTERM and self._drain_seconds and self._loop is not None:
            seconds, self._drain_seconds = self._drain_seconds, 0.0  # another signal stops it at once
            self._loop.call_soon_threadsafe(self._loop.call_later, seconds, self.handle_exit, sig, frame)
            return
        self._services.notifications.close()
        super().handle_exit(sig, frame)


def _any_key_in_store(settings: Settings) -> bool:
    try:
        with connect(settings.store_url) as client:
            stored = KeyStore(Store(client)).read()
    except redis.RedisError as error:
        raise StartError(
            f"LITERATI_HOST={settings.host} requires an API key, and the store does not answer "
            f"({type(error).__name__}); start the store first."
        ) from None
    return bool(stored.created or stored.imported)


def _check_store_format(settings: Settings) -> None:
    """Raise StoreFormatError if a newer program has written to the store. If it is away, check it later."""
    with suppress(redis.RedisError), connect(settings.store_url) as client:
        Store(client).format.check()


def _raise_file_limit() -> None:
    """Allow as many open files as the system permits, because every connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


def main() -> None:
    """Run the API server until it is told to stop."""
    try:
        settings = Settings()
    except ValidationError as error:
        sys.exit(explain(error))
    logs.configure(settings.log_level)
    try:
        _check_store_format(settings)
        check_api_keys(settings, lambda: _any_key_in_store(settings))
    except (StartError, StoreFormatError) as error:
        sys.exit(str(error))
    _raise_file_limit()
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        http=protocol_class(settings),
        ws="none",
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    Server(config, app.state.services).run()


if __name__ == "__main__":
    main()
