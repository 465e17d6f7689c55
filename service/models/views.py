"""Convert stored models to the API's schemas."""

from __future__ import annotations

from typing import Any

from service.models import schemas
from service.schemas.fields import bounds
from worker.domain import models as domain


def model_summary(model: domain.ModelSummary) -> schemas.ModelSummary:
    return schemas.ModelSummary.model_construct(**_fields(model))


def model_view(model: domain.Model) -> schemas.Model:
    return schemas.Model.model_construct(**_fields(model))


def model_with_tree(model: domain.Model, tree: dict[str, Any]) -> schemas.ModelWithTree:
    return schemas.ModelWithTree.model_construct(**_fields(model), tree=tree)


def _fields(model: domain.ModelSummary) -> dict[str, Any]:
    """Return the fields of the record by name. A schema takes those that it has."""
    url = f"/v1/models/{model.id}"
    return {
        "metrics": model.scores,
        **dict(model),
        **bounds(model.objective, model.upper_bound, model.lower_bound),
        "links": {
            "self": url,
            "tree_svg": f"{url}/tree.svg",
            "rules": f"{url}/rules",
            "export": f"{url}/export",
            "predict": f"{url}/predict",
            "job": f"/v1/jobs/{model.job_id}",
        },
    }
