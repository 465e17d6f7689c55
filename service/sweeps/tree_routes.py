"""Routes of the trees that a sweep found on its folds, and of what they predict for the rows held out."""

from __future__ import annotations

import io
from typing import Annotated, Any

import pyarrow as pa
from fastapi import APIRouter, Path, Query, Request, Response
from pyarrow import csv as arrow_csv
from pydantic_core import to_json

from service.dependencies import BlobsDep, CallerDep, ServicesDep, StoreDep
from service.examples import sweeps as examples
from service.http.csv_text import escape_formula
from service.http.media_types import best
from service.http.problems import Problem
from service.http.strict_queries import CHECKED_OPTIONS
from service.schemas.fields import TreeJson
from service.schemas.parameters import SweepId
from service.schemas.problems import problems
from service.sweeps.routes import stored_sweep
from worker.sweeps.fold_trees import NoTreeOfFoldError, fold_tree, held_out_predictions

router = APIRouter(prefix="/v1/sweeps", tags=["sweeps"], dependencies=[CHECKED_OPTIONS])
CSV, ARROW = "text/csv", "application/vnd.apache.arrow.stream"


@router.get(
    "/{sweep_id}/settings/{setting}/folds/{fold}/tree",
    operation_id="get_fold_tree",
    summary="Get the tree of a trial on one fold",
    response_model=TreeJson,
    responses={
        200: examples.answer(
            "The JSON model (docs/model-format.md); `ShapeTree.from_dict` reads it.", examples.TREE
        ),
        **problems(404, 422),
    },
)
def get_fold_tree(
    sweep_id: SweepId,
    setting: Annotated[int, Path(ge=0, le=100_000, description="The number of the setting.")],
    fold: Annotated[int, Path(ge=0, le=100_000, description="The number of the fold.")],
    caller: CallerDep,
    store: StoreDep,
    blobs: BlobsDep,
    penalty: Annotated[
        float | None,
        Query(
            ge=0,
            le=1e15,
            allow_inf_nan=False,
            description="Only with `path`: the penalty of a split, for all rows, as in a trial. Without it, "
            "the largest tree is returned.",
        ),
    ] = None,
) -> Response:
    """Get a tree that was fitted without the rows of the fold. The scores of a trial belong to such trees."""
    sweep = stored_sweep(store, caller.tenant, sweep_id)
    results = store.sweeps.results(sweep_id)
    try:
        tree = fold_tree(store, blobs, sweep, results, setting, fold, penalty)
    except NoTreeOfFoldError as error:
        detail = f"There is no tree of this setting and fold: {error}."
        raise Problem(404, detail, kind="not-found") from None
    return Response(to_json(tree), media_type="application/json")


@router.get(
    "/{sweep_id}/oof",
    operation_id="get_held_out_predictions",
    summary="Get the predictions for rows that were held out",
    response_class=Response,
    responses={
        200: {
            "description": "A line for each row and repetition: `row`, `fold`, `target`, `prediction` "
            "and one `probability_<class>` for each class.",
            "content": {
                CSV: {"schema": {"type": "string"}, "example": examples.HELD_OUT_CSV},
                ARROW: {"schema": {"type": "string", "format": "binary"}},
            },
        },
        **problems(404, 406, 409, s409="The sweep has not chosen yet, or its dataset was deleted."),
    },
)
def get_held_out_predictions(
    request: Request, sweep_id: SweepId, caller: CallerDep, services: ServicesDep
) -> Response:
    """Get what the chosen trial predicts for each row, from the tree of the fold that held the row out.

    No tree saw the row for which it predicts, so errors among these predictions are those to be expected on
    new rows. The response is CSV, or an Arrow stream if `Accept` asks for it.
    """
    sweep = stored_sweep(services.store, caller.tenant, sweep_id)
    chosen = best(request, [CSV, ARROW])
    if chosen is None:
        raise Problem(406, f"Predictions are sent as {CSV} or {ARROW}.")
    dataset = services.store.datasets.get(caller.tenant, sweep.spec.dataset_id)
    if sweep.choice is None or dataset is None:
        missing = "has not chosen yet" if sweep.choice is None else "has lost its dataset, which was deleted"
        raise Problem(409, f"The sweep {missing}, so there are no predictions.")
    try:
        table = held_out_predictions(services.store, services.blobs, sweep, dataset)
    except NoTreeOfFoldError as error:
        raise Problem(409, f"A tree of the chosen trial is missing: {error}.") from None
    return Response(_csv(table) if chosen == CSV else _arrow(table), media_type=chosen)


def _csv(table: Any) -> bytes:
    for name in ("target", "prediction"):
        texts = [escape_formula(text) for text in table.column(name).to_pylist()]
        table = table.set_column(table.column_names.index(name), name, [texts])
    out = io.BytesIO()
    arrow_csv.write_csv(table, out)
    return out.getvalue()


def _arrow(table: Any) -> bytes:
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return bytes(out.getvalue())
