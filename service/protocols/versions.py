"""The models and versions that addresses of other protocols name."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request

from service.dependencies import Services
from service.http.problems import Problem
from service.predict.predictor import Predictor
from service.schemas.parameters import EXAMPLE_MODEL_ID

Version = Annotated[
    str,
    Path(
        description="The id of the model. An alias has one version, the model to which it refers now.",
        examples=[EXAMPLE_MODEL_ID],
    ),
]


async def find_model(request: Request, model: str, version: str | None = None) -> Predictor:
    """Return the predictor of a model; raise the problem 404 if it does not have this version."""
    services: Services = request.app.state.services
    predictor = await services.predictors.with_tensors(request.scope["literati.caller"].tenant, model)
    current = predictor.source["model_id"]
    if version not in (None, current):
        raise Problem(
            404, f"There is no such version of this model; it has only {current}.", kind="not-found"
        )
    return predictor
