"""The address to listen on: this machine has it, it is free, and strangers do not get in without a key."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable

from service import keyring
from service.auth import is_loopback
from service.keyring import KeyFile
from service.settings import Settings
from service.state_folder import StartError

PATIENCE = 2.0  # seconds for a server that was just killed to let go of the port


def refuse_strangers(settings: Settings, any_in_store: Callable[[], bool] = lambda: False) -> None:
    """Check the key file, and that there is a key if others than this machine may call."""
    path = settings.api_keys_file
    try:
        file = KeyFile() if path is None else keyring.read(path)
    except FileNotFoundError:
        raise StartError(
            f"LITERATI_API_KEYS_FILE={path} does not exist; make it and a key in it with "
            f"`python -m service.keys --file {path} add NAME`, or unset the variable."
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StartError(f"LITERATI_API_KEYS_FILE={path} cannot be used: {reason}") from None
    if is_loopback(settings.host) or file.keys or any_in_store():
        return
    raise StartError(
        f"LITERATI_HOST={settings.host} would let others call without a key; make one first with "
        "`python -m service.keys add NAME`: it is kept in the store if that runs, else in the file that "
        "LITERATI_API_KEYS_FILE names."
    )


def free_port(host: str, port: int) -> int:
    """The port, or with 0 one that is free."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return _try(host, port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            raise StartError(_sentence(host, port, error)) from None


def _try(host: str, port: int) -> int:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
        probe.listen()
        return int(probe.getsockname()[1])


def _sentence(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use; set LITERATI_PORT to another one."
    if error.errno == errno.EACCES:
        return f"Port {port} needs more rights than this user has; set LITERATI_PORT to one above 1023."
    return f"This machine has no address {host} ({error.strerror}); set LITERATI_HOST to one that it has."
