"""A client of the Literati service: `Client` for ordinary programs, `AsyncClient` for asyncio and trio.

    from literati.client import Client

    client = Client("http://127.0.0.1:8000")
    dataset = client.datasets.upload("loans.csv", target="repaid")
    model = client.jobs.create(dataset, max_depth=4).wait(progress=True)
    model.predict("loans.csv")

The client is the only part of the library that speaks HTTP.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    import httpx2  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "httpx2":
        raise
    raise ImportError(
        "literati.client needs the package httpx2. Install it with: pip install 'literati-trees[client]'",
        name="httpx2",
    ) from None

from literati.client._async.client import AsyncClient
from literati.client._async.datasets import AsyncDataset
from literati.client._async.jobs import AsyncJob
from literati.client._async.models import AsyncModel
from literati.client._async.sweeps import AsyncSweep
from literati.client._sync.client import Client
from literati.client._sync.datasets import Dataset
from literati.client._sync.jobs import Job
from literati.client._sync.models import Model
from literati.client._sync.sweeps import Sweep
from literati.client.errors import (
    ApiError,
    AuthenticationError,
    CancelledError,
    ClientError,
    ConfigurationError,
    ConflictError,
    ConnectionFailedError,
    EndedWithoutModelError,
    FailedError,
    InvalidIdError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    ServerError,
    UnavailableError,
    VersionWarning,
    WaitTimeoutError,
)
from literati.client.events import Event
from literati.client.predictions import Predictions
from literati.client.retry import RetryPolicy

if TYPE_CHECKING:
    from literati.client.remote_classifier import RemoteClassifier

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncDataset",
    "AsyncJob",
    "AsyncModel",
    "AsyncSweep",
    "AuthenticationError",
    "CancelledError",
    "Client",
    "ClientError",
    "ConfigurationError",
    "ConflictError",
    "ConnectionFailedError",
    "Dataset",
    "EndedWithoutModelError",
    "Event",
    "FailedError",
    "InvalidIdError",
    "InvalidRequestError",
    "Job",
    "Model",
    "NotFoundError",
    "PermissionDeniedError",
    "Predictions",
    "RateLimitedError",
    "RemoteClassifier",
    "RetryPolicy",
    "ServerError",
    "Sweep",
    "UnavailableError",
    "VersionWarning",
    "WaitTimeoutError",
]


def __getattr__(name: str) -> Any:
    """Import the estimator when it is first used: scikit-learn takes two seconds to import."""
    if name == "RemoteClassifier":
        globals()[name] = import_module("literati.client.remote_classifier").RemoteClassifier
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
