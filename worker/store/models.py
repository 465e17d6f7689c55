"""Finished trees and the aliases that name them. Jobs make models; only names and notes ever change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import redis

from worker.errors import AliasGoneError, ModelGoneError
from worker.messages import Model, ModelSummary

from . import records
from .client import Scripts, read_hash
from .pages import Page, fields, newest, summaries

# Everything but the tree, which may be large.
_FIELDS = (*records.MODEL_SUMMARY, b"metrics")
_TREE = (b"tenant", b"tree", b"upper", b"lower", b"proven_optimal")


class ModelStore:
    def __init__(self, client: redis.Redis, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts

    def resolve(self, tenant: str, model_id_or_alias: str) -> str | None:
        """The id of a model that is there; one round trip."""
        try:
            _, model_id = self._scripts.run("resolve_model", tenant, model_id_or_alias)
        except ModelGoneError:
            return None
        return str(model_id.decode())

    def get(self, tenant: str, model_id_or_alias: str) -> Model | None:
        model_id, record = self._read(tenant, model_id_or_alias, _FIELDS)
        return records.model(model_id, record) if record else None

    def tree(self, tenant: str, model_id_or_alias: str) -> dict[str, Any] | None:
        """The JSON model, with the bounds known at its job's end in its proof and root."""
        _, record = self._read(tenant, model_id_or_alias, _TREE)
        return records.final_tree(record) if record else None

    def _read(
        self, tenant: str, model_id_or_alias: str, names: tuple[bytes, ...]
    ) -> tuple[str, dict[bytes, bytes]]:
        model_id = self.resolve(tenant, model_id_or_alias)
        if model_id is None:
            return "", {}
        (record,) = fields(self._client, [_key(model_id)], names)
        return model_id, record

    def list(self, tenant: str, *, page_size: int = 50, page_token: str | None = None) -> Page[ModelSummary]:
        """Newest first, without trees and metrics."""
        ids, token = newest(self._client, [f"literati:tenant-models:{tenant}"], page_size, page_token)
        found = summaries(self._client, [_key(model_id) for model_id in ids], records.MODEL_SUMMARY)
        return Page([records.model_summary(*item) for item in zip(ids, found, strict=True) if item[1]], token)

    def change(self, tenant: str, model_id_or_alias: str, changes: Mapping[str, str | None]) -> Model:
        """Give the model another `name` or `notes`; None takes them away."""
        fields = (part for name, value in changes.items() for part in (name, json.dumps(value)))
        _, model_id = self._scripts.run("change_model", tenant, model_id_or_alias, *fields)
        model = self.get(tenant, model_id.decode())
        if model is None:  # deleted a moment ago
            raise ModelGoneError
        return model

    def delete(self, tenant: str, model_id: str, *, keep: bool = False) -> None:
        """`keep` leaves it where `restore` finds it."""
        self._scripts.run("delete", "model", model_id, tenant, int(keep))

    def restore(self, tenant: str, model_id: str, *, most: int | None = None) -> Model:
        """Take back a deletion. LimitReachedError if the tenant has as many models as it may have."""
        self._scripts.run("restore", "model", model_id, tenant, "" if most is None else most, "")
        model = self.get(tenant, model_id)
        if model is None:  # deleted again a moment ago
            raise ModelGoneError
        return model

    def set_alias(self, tenant: str, alias: str, model_id: str, *, most: int | None = None) -> None:
        self._scripts.run("set_alias", tenant, alias, model_id, "" if most is None else most)

    def delete_alias(self, tenant: str, alias: str) -> None:
        if self._client.hdel(f"literati:aliases:{tenant}", alias) == 0:
            raise AliasGoneError

    def aliases(self, tenant: str) -> dict[str, str]:
        found = read_hash(self._client, f"literati:aliases:{tenant}")
        return {alias.decode(): model_id.decode() for alias, model_id in sorted(found.items())}


def _key(model_id: str) -> str:
    return f"literati:model:{model_id}"
