"""Kill containers at random and start them again."""

from __future__ import annotations

import random
import threading
import time

from tests.compose.engine import Containers, say
from tests.load.requests import Addresses

SERVICES = {"worker": 4, "api": 2, "redis": 1}  # and how often each is chosen
DOWN_SECONDS = 2.0


class Faults(threading.Thread):
    """Kill a random container every `pause` seconds until `stop` is called."""

    def __init__(self, containers: Containers, addresses: Addresses, pause: float, seed: int) -> None:
        super().__init__(daemon=True)
        self._containers = containers
        self._addresses = addresses
        self._pause = pause
        self._draw = random.Random(seed)
        self._stopped = threading.Event()
        self._known = {service: containers.of(service) for service in SERVICES}
        self.kills: list[tuple[float, str]] = []  # time and service
        self.problems: list[str] = []

    def run(self) -> None:
        try:
            while not self._stopped.wait(self._pause):
                (service,) = self._draw.choices(list(SERVICES), list(SERVICES.values()))
                self._kill(service)
        except (Exception, SystemExit) as error:  # a thread ends without a message when it is a SystemExit
            self.problems.append(f"Nothing was killed any more after {type(error).__name__}: {error}")

    def _kill(self, service: str) -> None:
        container = self._draw.choice(self._known[service])
        self.kills.append((time.monotonic(), service))
        self._containers.engine("kill", "--signal", "KILL", container)
        say(f"killed a container of {service}")
        time.sleep(DOWN_SECONDS)
        self._containers.engine("start", container)
        if service == "api":  # the engine may publish another port
            self._addresses.addresses = [self._containers.address(one) for one in self._known["api"]]

    def stop(self) -> None:
        self._stopped.set()
        self.join()
