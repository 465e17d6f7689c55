# Written by `make client` from "_async/client.py". Change that file instead.
"""The client: the entrance to datasets, jobs, sweeps and models of one server."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from literati.client._sync.datasets import Datasets
from literati.client._sync.jobs import Jobs
from literati.client._sync.models import Models
from literati.client._sync.sweeps import Sweeps
from literati.client._sync.transport import Transport
from literati.client.call import Call
from literati.client.config import find_connection
from literati.client.retry import RetryPolicy


class Client:
    """A client of one server.

    Without arguments, the address is LITERATI_URL and the key LITERATI_API_KEY, or those of the configuration
    file, `~/.config/literati/config.toml`; `profile` selects a section `[profiles.NAME]` of it. `timeout` is
    how many seconds the server may be silent during a call. The client may be used by several threads or
    tasks. Close it, or use it as a context manager, to close its connections.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        profile: str | None = None,
        timeout: float = 60.0,
        retry: RetryPolicy | None = None,
    ) -> None:
        connection = find_connection(url, api_key, profile)
        self._options = {"profile": profile, "timeout": timeout, "retry": retry}
        self._transport = Transport(connection, timeout, retry or RetryPolicy())
        self.datasets = Datasets(self._transport)
        self.jobs = Jobs(self._transport)
        self.sweeps = Sweeps(self._transport)
        self.models = Models(self._transport)

    @property
    def url(self) -> str:
        """Return the address of the server."""
        return self._transport.connection.url

    def version(self) -> dict[str, Any]:
        """Return the version of the server."""
        return self._transport.json(Call("GET", "/version"))

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    # scikit-learn copies the parameters of an estimator, and sends them to other processes.

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return the address and the options. The key is a secret and not part of a pickle."""
        return {"url": self.url, **self._options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]
