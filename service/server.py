"""`python -m service.server`: the API process by itself, on LITERATI_HOST and LITERATI_PORT."""

from __future__ import annotations

from types import FrameType

import uvicorn

from service import logs
from service.app import create_app
from service.dependencies import Services
from service.settings import Settings

_GRACE = 5  # seconds for requests under way


class Server(uvicorn.Server):
    """Lets requests that wait for news go as soon as it is told to stop: they would hold it up otherwise."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._services.hub.close()
        super().handle_exit(sig, frame)


def main() -> None:
    logs.configure()
    settings = Settings()
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_GRACE,
        h11_max_incomplete_event_size=64 * 1024,
    )
    Server(config, app.state.services).run()


if __name__ == "__main__":
    main()
