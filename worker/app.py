"""The Celery app. A message only wakes a worker; the store says which jobs there are."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from urllib.parse import quote, urlsplit

import structlog
from celery import Celery
from kombu.exceptions import OperationalError
from redis import RedisError

from worker.settings import WorkerSettings
from worker.store.connections import sentinel_options
from worker.store_address import sentinel_address

QUEUE = "literati"
TASK = "worker.tasks.work"
DAY = 86_400
SOFT_SHUTDOWN_SECONDS = 20.0
MAX_CHILD_KIB = 1 << 20  # a child that holds more memory after a job is replaced
_TRANSPORT = {
    "visibility_timeout": DAY,
    "socket_connect_timeout": 5,
    "socket_timeout": 5,
    # A connection that has gone silent is closed after twice this time and a second.
    "health_check_interval": 5,
    # The sender of a wake-up does not wait for an unavailable broker: the reconciler sends another one.
    "max_retries": 1,
    "interval_start": 0.2,
}

log = structlog.get_logger(__name__)


def broker_settings(store_url: str) -> dict[str, Any]:
    """Return Celery's settings for the store's address, in the form that kombu expects."""
    address = sentinel_address(store_url)
    if address is None:
        return {"broker_url": _server_url(store_url), "broker_transport_options": dict(_TRANSPORT)}
    # kombu takes the credentials and the database of the URL that it is at, so each URL has them.
    user, password = (quote(address.credentials.get(name, ""), safe="") for name in ("username", "password"))
    hosts = [(f"[{host}]" if ":" in host else host, port) for host, port in address.hosts]
    urls = [f"sentinel://{user}:{password}@{host}:{port}/{address.database}" for host, port in hosts]
    sentinels = {"master_name": address.primary, "sentinel_kwargs": sentinel_options(address)}
    return {
        "broker_url": ";".join(urls),
        "broker_transport_options": {**_TRANSPORT, **sentinels},
        "broker_use_ssl": address.tls or False,
    }


def _server_url(store_url: str) -> str:
    parts = urlsplit(store_url)
    if parts.scheme == "rediss" and "ssl_cert_reqs=" not in parts.query:
        # By default kombu accepts any certificate, unlike the client of the store.
        return f"{store_url}{'&' if parts.query else '?'}ssl_cert_reqs=required"
    if parts.scheme != "unix":
        return store_url
    host = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    query = f"?{parts.query.replace('db=', 'virtual_host=')}" if parts.query else ""
    return f"redis+socket://{host}{parts.path}{query}"


class App(Celery):
    @cached_property
    def Worker(self) -> Any:
        from worker.shutdown import Worker  # not needed in a process that only sends wake-ups

        return self.subclass_with_self(Worker)


def make_app(settings: WorkerSettings) -> Celery:
    """Create the app. docs/decisions/0014 and 0015 give the reasons for its settings."""
    app = App("literati", include=["worker.tasks"])
    app.conf.update(
        **broker_settings(settings.store_url),
        task_default_queue=QUEUE,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        worker_concurrency=settings.worker_concurrency,
        worker_pool="prefork",
        worker_max_memory_per_child=MAX_CHILD_KIB,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_soft_shutdown_timeout=SOFT_SHUTDOWN_SECONDS,
        worker_enable_soft_shutdown_on_idle=False,
        worker_hijack_root_logger=False,
        worker_send_task_events=False,
        result_backend_transport_options={"visibility_timeout": DAY},
        visibility_timeout=DAY,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_pool_limit=4,
    )
    return app


app = make_app(WorkerSettings())


def wake(count: int = 1) -> None:
    """Send wake-ups to the workers. If that fails, the reconciler sends them later."""
    try:
        for _ in range(count):
            app.send_task(TASK, ignore_result=True, retry=False)
    except (OperationalError, RedisError, OSError) as error:
        log.warning("wake-up not sent", error=type(error).__name__)
