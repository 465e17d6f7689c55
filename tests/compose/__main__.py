"""`make test-compose`: build the image and run the stack, first on one machine, then as on several."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from service.listen_address import free_port
from tests.compose.engine import Containers, say
from tests.compose.hosts import Hosts
from tests.compose.walk import Walk


def main(compose: str, engine: str, *parts: str) -> None:
    """Run the named parts: `walk`, which builds the image, and `hosts`; both if none is named."""
    with tempfile.TemporaryDirectory() as folder:
        if not parts or "walk" in parts:
            port = free_port("127.0.0.1", 0)
            alone = Containers(compose, engine, "literati-walk", LITERATI_PORT=str(port))
            _walk(alone, Walk(alone, f"http://127.0.0.1:{port}").run)
        if not parts or "hosts" in parts:
            hosts = Hosts(compose, engine, Path(folder))
            _walk(hosts.containers, hosts.run)
    say("PASSED")


def _walk(containers: Containers, run: Callable[[Path], None]) -> None:
    containers.down("--volumes")  # what a walk that was killed left behind
    try:
        with tempfile.TemporaryDirectory() as folder:
            run(Path(folder))
    except BaseException:
        containers.say_last_words()
        raise
    finally:
        containers.down("--volumes")


if __name__ == "__main__":
    main(*sys.argv[1:])
