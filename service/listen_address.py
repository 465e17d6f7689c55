"""Check the address to listen on: its port must be free, and other machines may call only with a key."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable

from service.auth import key_file
from service.auth.authentication import is_loopback
from service.auth.key_file import KeyFile
from service.commands import command
from service.errors import StartError
from service.settings import Settings

PORT_SECONDS = 2.0  # in which a server that was just killed releases its port


def check_api_keys(settings: Settings, any_in_store: Callable[[], bool] = lambda: False) -> None:
    """Check the key file, and that there is a key if other machines may call."""
    path = settings.api_keys_file
    try:
        file = KeyFile() if path is None else key_file.read(path)
    except FileNotFoundError:
        raise StartError(
            f"LITERATI_API_KEYS_FILE={path} does not exist; create it and a key with "
            f"`{command('keys')} --file {path} add NAME`, or unset the variable."
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StartError(f"LITERATI_API_KEYS_FILE={path} cannot be used: {reason}") from None
    if is_loopback(settings.host) or file.keys or any_in_store():
        return
    raise StartError(
        f"LITERATI_HOST={settings.host} would let other machines call without a key; create one first with "
        f"`{command('keys')} add NAME`. It is kept in the store if that runs, else in the file "
        "LITERATI_API_KEYS_FILE."
    )


def free_port(host: str, port: int) -> int:
    """Return the port if it is free, or a free port for 0. Otherwise raise a StartError."""
    deadline = time.monotonic() + PORT_SECONDS
    while True:
        try:
            return _bind(host, port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            raise StartError(_bind_error(host, port, error)) from None


def _bind(host: str, port: int) -> int:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
        probe.listen()
        return int(probe.getsockname()[1])


def _bind_error(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use; set LITERATI_PORT to another one."
    if error.errno == errno.EACCES:
        return f"This user may not listen on port {port}; set LITERATI_PORT to one above 1023."
    return f"This machine has no address {host} ({error.strerror}); set LITERATI_HOST to one that it has."
