"""Count the rows in a node: check the request, read the rows in a thread and encode the response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio
import numpy as np
from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

from literati import ShapeTree, __version__
from literati.data.labels import plain
from service.dependencies import Services
from service.http.etags import matches, not_modified, strong_tag, tag_headers
from service.http.problems import FieldError, Problem, invalid
from service.http.remedies import in_query
from service.http.restore_hints import find_deletion
from service.nodes.histogram import histogram
from service.nodes.node_sample import RowSplit, TrainingData, read_sample
from service.nodes.schemas import ClassRows, JobNodeRows, ModelNodeRows, Part
from worker.domain.datasets import Dataset

MAX_CONCURRENT = 2  # scans; one of a million rows takes up to a second and 100 MB
_threads = anyio.CapacityLimiter(MAX_CONCURRENT)


@dataclass(frozen=True)
class NodeScan:
    """A node of a tree, and which rows of the tree's dataset to count in it."""

    tree: ShapeTree
    source: dict[str, Any]  # the fields of the response that name the tree
    node: int
    part: Part
    dataset_id: str
    row_split: RowSplit  # how the job split the rows of the dataset

    async def respond(self, request: Request, services: Services, tenant: str) -> Response:
        self._check()
        dataset = await run_in_threadpool(services.store.datasets.get, tenant, self.dataset_id)
        if dataset is None:
            raise await self._deleted(services, tenant)
        tag = strong_tag("node rows", self.source, self.node, self.part, __version__)
        if matches(request, tag):
            return not_modified(tag)
        async with services.node_scans.slot(tenant):
            content = await anyio.to_thread.run_sync(self._count, services, dataset, limiter=_threads)
        return Response(content, headers=tag_headers(tag), media_type="application/json")

    def _check(self) -> None:
        """Raise a problem if there is no such node, or if the job held out no rows but they are wanted."""
        if self.node >= len(self.tree.nodes):
            detail = f"There is no such node; the nodes of this tree are 0 to {len(self.tree.nodes) - 1}."
            raise Problem(404, detail, kind="not-found")
        if self.part == "validation" and not self.row_split.holds_out:
            message = "The job held out no rows for validation; all rows are training rows."
            fix = in_query("Count the training rows", part=["train"])
            raise invalid(FieldError("/query/part", "NO_VALIDATION", message), fixes=[fix])

    async def _deleted(self, services: Services, tenant: str) -> Problem:
        deletion = await find_deletion(services, "dataset", tenant, self.dataset_id)
        detail = "The dataset of this tree was deleted, so its rows cannot be counted."
        hint = "" if deletion is None else f" {deletion.sentence()}"
        return Problem(409, detail + hint, kind="dataset-deleted")

    def _count(self, services: Services, dataset: Dataset) -> str:
        """Return the response as JSON."""
        tree, node = self.tree, self.node
        data = TrainingData(dataset, services.blobs.path(dataset.blob), self.row_split)
        sample = read_sample(data, self.part, tree, node)
        (rows,), (weights,) = sample.count(np.zeros(len(sample.y), dtype=np.intp), 1)
        labels = [plain(label) for label in tree.classes]
        split = tree.nodes[node].split
        column = None if split is None else tree.schema.columns[split.column]
        schema = ModelNodeRows if "model_id" in self.source else JobNodeRows
        return schema(
            **self.source,
            node=node,
            part=self.part,
            dataset_id=dataset.id,
            rows=sum(rows),
            weight=sum(weights),
            classes=[
                ClassRows(label=label, rows=n, weight=weight)
                for label, n, weight in zip(labels, rows, weights, strict=True)
            ],
            feature=None if column is None else column.name,
            histogram=None if split is None or column is None else histogram(sample, split, column),
        ).model_dump_json()
