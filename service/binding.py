"""The address to listen on: this machine has it, it is free, and strangers do not get in without a key."""

from __future__ import annotations

import errno
import socket
import time

from service.auth import Keys, is_loopback
from service.settings import Settings
from service.state_folder import StartError

PATIENCE = 2.0  # seconds for a server that was just killed to let go of the port


def refuse_strangers(settings: Settings) -> None:
    """Without keys only this machine may call; a file of keys that cannot be read lets nobody in."""
    try:
        keys = Keys(settings.api_keys_file)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StartError(
            f"LITERATI_API_KEYS_FILE={settings.api_keys_file} cannot be used: {reason}"
        ) from None
    if is_loopback(settings.host) or keys.any:
        return
    raise StartError(
        f"LITERATI_HOST={settings.host} would let others call without a key; set LITERATI_API_KEYS_FILE to a "
        "file and make a key in it with `python -m service.keys add NAME`."
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
