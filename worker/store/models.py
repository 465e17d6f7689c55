"""Models and their aliases. Jobs create models; only the name, notes and tags of a model can change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import redis

from worker.domain.base import new_id
from worker.domain.errors import ModelNotFoundError
from worker.domain.models import Model, ModelSummary
from worker.store import codecs
from worker.store.archives import Archives, following_archives
from worker.store.client import Scripts, StorePart, or_empty, read_hash
from worker.store.paging import OLDER_SCORES, Page, filtered_page, newest_page, read_fields

Change = Callable[[Model], Mapping[str, Any]]
# All fields but the tree, which may be large.
_FIELDS = (*codecs.MODEL_SUMMARY, b"metrics", b"archive")
_TREE = (b"tenant", b"tree", b"upper", b"lower", b"proven_optimal", b"stage", b"tree_stage", b"archive")


@dataclass(frozen=True)
class MakeResult:
    model: Model
    created: bool  # False if the tree had a model already


class ModelStore(StorePart):
    def __init__(self, client: redis.Redis, scripts: Scripts, archives: Archives) -> None:
        super().__init__(client, scripts)
        self._archives = archives

    @following_archives
    def make(self, tenant: str, job_id: str, revision: int, *, max_models: int | None = None) -> MakeResult:
        """Make a model of a tree of a job, which may still run. The job does not change.

        Raise LimitReachedError if the tenant has `max_models` already.
        """
        status, *found = self._archives.run_on_whole_job(
            "make_model", job_id, tenant, new_id("mdl"), revision, or_empty(max_models)
        )
        model_id = found[0]
        return MakeResult(self._existing(tenant, model_id.decode()), created=status == b"MADE")

    def resolve(self, tenant: str, model_id_or_alias: str) -> str | None:
        """Return the id of an existing model, in one round trip."""
        try:
            _, model_id = self._scripts.run("resolve_model", tenant, model_id_or_alias)
        except ModelNotFoundError:
            return None
        return str(model_id.decode())

    @following_archives
    def get(self, tenant: str, model_id_or_alias: str) -> Model | None:
        model_id, record = self._read(tenant, model_id_or_alias, _FIELDS)
        return codecs.model(model_id, record) if record else None

    @following_archives
    def tree(self, tenant: str, model_id_or_alias: str) -> dict[str, Any] | None:
        """Return the JSON model, with the bounds that were known at the end of its job."""
        _, record = self._read(tenant, model_id_or_alias, _TREE)
        return codecs.final_tree(record) if record else None

    def _read(
        self, tenant: str, model_id_or_alias: str, names: tuple[bytes, ...]
    ) -> tuple[str, dict[bytes, bytes]]:
        model_id = self.resolve(tenant, model_id_or_alias)
        if model_id is None:
            return "", {}
        (record,) = read_fields(self._client, [_key(model_id)], names)
        if name := record.get(b"archive"):
            archive = self._archives.open(_key(model_id), name)
            record = archive.fields() | record
            if b"tree" in names and (tree := archive.tree()):
                record[b"tree"] = tree
        return model_id, record

    def list(
        self,
        tenant: str,
        *,
        dataset_id: str | None = None,
        page_size: int = 50,
        page_token: str | None = None,
    ) -> Page[ModelSummary]:
        """Return a page of models, newest first, without trees and metrics.

        With `dataset_id`, a page may have fewer models than requested, although there is a next page.
        """
        index = [f"literati:tenant-models:{tenant}"]
        if dataset_id is None:
            ids, token = newest_page(self._client, index, page_size, page_token)
        else:
            choose = partial(self._on_dataset, dataset_id)
            ids, token = filtered_page(self._client, index, page_size, page_token, choose)
        keys = [_key(model_id) for model_id in ids]
        found = read_fields(self._client, keys, (*codecs.MODEL_SUMMARY, b"archive"), older=OLDER_SCORES)
        return Page([codecs.model_summary(*item) for item in zip(ids, found, strict=True) if item[1]], token)

    def _on_dataset(self, dataset_id: str, ids: Sequence[str]) -> set[str]:
        found = read_fields(self._client, [_key(model_id) for model_id in ids], (b"spec", b"archive"))
        known = {
            model_id: json.loads(record.get(b"spec", b"{}"))
            for model_id, record in zip(ids, found, strict=True)
        }
        return {model_id for model_id, spec in known.items() if spec.get("dataset_id") == dataset_id}

    @following_archives
    def change(self, tenant: str, model_id_or_alias: str, change: Change) -> Model:
        """Change the `name`, `notes` and `tags` of a model to those that `change` returns; None removes one.

        `change` is called again if another client changes the tags at the same time.
        """
        while True:
            model_id, record = self._read(tenant, model_id_or_alias, _FIELDS)
            if not record:
                raise ModelNotFoundError
            changes = change(codecs.model(model_id, record))
            fields = (part for name, value in changes.items() for part in (name, json.dumps(value)))
            status = self._scripts.run("change_model", tenant, model_id, record.get(b"tags", b""), *fields)
            if status[0] == b"OK":
                return self._existing(tenant, model_id)

    def delete(self, tenant: str, model_id: str, *, keep: bool = False) -> None:
        """Delete a model. With `keep` it can be restored."""
        self._scripts.run("delete", "model", model_id, tenant, int(keep))

    def restore(self, tenant: str, model_id: str, *, max_models: int | None = None) -> Model:
        """Restore a deleted model. Raise LimitReachedError if the tenant has `max_models` already."""
        self._scripts.run("restore", "model", model_id, tenant, or_empty(max_models), "")
        return self._existing(tenant, model_id)

    def _existing(self, tenant: str, model_id: str) -> Model:
        model = self.get(tenant, model_id)
        if model is None:  # it was deleted meanwhile
            raise ModelNotFoundError
        return model

    def set_alias(self, tenant: str, alias: str, model_id: str, *, max_aliases: int | None = None) -> None:
        self._scripts.run("set_alias", tenant, alias, model_id, or_empty(max_aliases))

    def delete_alias(self, tenant: str, alias: str) -> None:
        self._scripts.run("delete_alias", tenant, alias)

    def aliases(self, tenant: str) -> dict[str, str]:
        found = read_hash(self._client, f"literati:aliases:{tenant}")
        return {alias.decode(): model_id.decode() for alias, model_id in sorted(found.items())}


def _key(model_id: str) -> str:
    return f"literati:model:{model_id}"
