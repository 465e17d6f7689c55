"""`python -m service.server`: the API process by itself, on LITERATI_HOST and LITERATI_PORT."""

from __future__ import annotations

import gc
import socket
import sys
from types import FrameType

import redis
import uvicorn

from service.app import create_app
from service.binding import refuse_strangers
from service.dependencies import Services
from service.http_protocol import protocol_class
from service.key_store import KeyStore
from service.settings import Settings
from service.state_folder import StartError
from worker import logs
from worker.store import connect

_GRACE = 5  # seconds for requests under way


class Server(uvicorn.Server):
    """Lets requests that wait for news go as soon as it is told to stop: they would hold it up otherwise."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """All that is there when requests begin to come stays: the collector need not look at it again, which
        would stop every request for 60 ms each time."""
        await super().startup(sockets)
        gc.collect()
        gc.freeze()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._services.hub.close()
        super().handle_exit(sig, frame)


def _any_key_in_store(settings: Settings) -> bool:
    try:
        with connect(settings.store_url) as client:
            stored = KeyStore(client).read()
    except redis.RedisError as error:
        raise StartError(
            f"LITERATI_HOST={settings.host} needs an API key, and the store cannot be asked for one "
            f"({type(error).__name__}); start the store first."
        ) from None
    return bool(stored.made or stored.imported)


def main() -> None:
    settings = Settings()
    logs.configure(settings.log_level)
    try:
        refuse_strangers(settings, lambda: _any_key_in_store(settings))
    except StartError as refusal:
        sys.exit(str(refusal))
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
        timeout_graceful_shutdown=_GRACE,
    )
    Server(config, app.state.services).run()


if __name__ == "__main__":
    main()
