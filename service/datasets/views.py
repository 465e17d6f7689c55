"""Convert stored datasets to the API's schemas."""

from __future__ import annotations

from typing import Any

from service.datasets.schemas import Dataset, DatasetSummary
from service.schemas.problems import ProblemFix
from worker.domain import datasets as domain


def dataset_summary(dataset: domain.DatasetSummary) -> DatasetSummary:
    return DatasetSummary.model_construct(**_summary_fields(dataset))


def dataset_view(dataset: domain.Dataset) -> Dataset:
    more = {name: getattr(dataset, name) for name in ("dropped", "columns", "classes", "warnings")}
    fixes = [ProblemFix(label=fix.label, options=fix.options, part="query") for fix in dataset.fixes]
    return Dataset.model_construct(**_summary_fields(dataset.summary), **more, fixes=fixes)


def _summary_fields(dataset: domain.DatasetSummary) -> dict[str, Any]:
    address = f"/v1/datasets/{dataset.id}"
    return {
        **{name: value for name, value in dataset if name != "tenant"},
        "links": {"self": address, "preview": f"{address}/preview", "jobs": "/v1/jobs"},
    }
