"""Content negotiation, and JSON bodies that are read strictly."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from service.http.error_handlers import field_errors, malformed
from service.http.field_remedies import explained
from service.http.problems import MAX_ERRORS, Problem, invalid, pointer
from service.http.remedies import Place, Remedy, merged, working
from service.http.union_errors import Located, located

Model = TypeVar("Model", bound=BaseModel)
_MAX_DETAILS = 100  # of Pydantic, which reports a place several times if it may have several types


def prefers(request: Request, wanted: str, otherwise: str) -> bool:
    """Return whether `Accept` ranks `wanted` above `otherwise`."""
    accept = ",".join(request.headers.getlist("accept"))
    first, second = _quality(accept, wanted), _quality(accept, otherwise)
    return first[0] > 0 and first > second


def best(request: Request, offers: list[str]) -> str | None:
    """Return the offer that `Accept` ranks highest, the first of equals; None if it accepts none."""
    accept = ",".join(request.headers.getlist("accept")) or "*/*"
    chosen = max(offers, key=lambda offer: _quality(accept, offer))
    return chosen if _quality(accept, chosen)[0] > 0 else None


def _quality(accept: str, media_type: str) -> tuple[float, int]:
    """Return the weight of a type in `Accept`, and the precedence of the entry that matches it."""
    best = (0.0, 0)
    family = media_type.partition("/")[0]
    ranks = {media_type: 3, f"{family}/*": 2, "*/*": 1}
    for entry in accept.split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        rank = ranks.get(name, 0)
        if rank > best[1]:
            best = (weight(parameters), rank)
    return best


def weight(parameters: list[str]) -> float:
    """Return the `q` parameter of an entry of `Accept` or `Accept-Encoding`; 1 if it has none."""
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


MERGE_PATCH = "application/merge-patch+json"  # RFC 7396


def strict_json(
    model: type[Model], *also: str, required: bool = True
) -> Callable[[Request], Coroutine[Any, Any, Model]]:
    """Return a dependency that reads a JSON body as a model, without conversions, NaN or unknown fields.

    `also` lists media types that are accepted besides application/json. If the body is not `required`, an
    empty one gives the defaults of the model.
    """
    kinds = ("application/json", *also)

    async def read(request: Request) -> Model:
        if not required and not await request.body():
            return model()
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in kinds:
            named = " or ".join(f"`Content-Type: {kind}`" for kind in kinds)
            raise Problem(415, f"Send the body as {named}.", kind="media-type")
        body = await request.body()
        try:
            return model.model_validate_json(body, strict=True)
        except ValidationError as error:
            raise _refusal(model, body, error) from None

    return read


def _refusal(model: type[BaseModel], body: bytes, error: ValidationError) -> Problem:
    """Return the problem of a body that does not fit the model, with remedies that work."""
    if any(detail["type"] == "json_invalid" for detail in error.errors(include_url=False)):
        return malformed("The body is not valid JSON in UTF-8, or nested too deeply.")
    sent = from_json(body)
    found = _errors_in(error, sent)
    explanations = [explained(wrong, model, sent) for wrong in found]
    groups = list({wrong.path: fixes for wrong, fixes in explanations}.values())

    def left(remedy: Remedy) -> set[Place]:
        changed = merged(sent, remedy.options)
        try:
            model.model_validate_json(json.dumps(changed), strict=True)
        except ValidationError as error:
            return _places(_errors_in(error, changed))
        return set()

    fixes = working(groups, _places(found), left) if len(groups) <= MAX_ERRORS else ()
    return invalid(*field_errors(wrong for wrong, _ in explanations)[:MAX_ERRORS], fixes=fixes)


def _errors_in(error: ValidationError, body: Any) -> list[Located]:
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return located([{**detail, "loc": ("body", *detail["loc"])} for detail in details[:_MAX_DETAILS]], body)


def _places(errors: Iterable[Located]) -> set[Place]:
    return {pointer(*error.path) for error in errors}
