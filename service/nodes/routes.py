"""Routes of the rows in a node of a tree, of a model or of a job."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from service.dependencies import CallerDep, ServicesDep
from service.examples import jobs as examples
from service.examples import nodes as node_examples
from service.http.strict_queries import CHECKED_OPTIONS
from service.nodes.histogram import MAX_BINS, MAX_CATEGORIES
from service.nodes.node_sample import RowSplit
from service.nodes.node_scan import NodeScan
from service.nodes.schemas import JobNodeRows, ModelNodeRows, Part
from service.schemas.parameters import NOT_MODIFIED, JobId, ModelName, NoneMatch, TreeRevision
from service.schemas.problems import problems
from worker.domain.errors import JobNotFoundError, ModelNotFoundError

router = APIRouter(prefix="/v1", dependencies=[CHECKED_OPTIONS])
_ETAG = {"ETag": examples.header("A strong entity tag of the tree, the node and the part.")}

NodeIndex = Annotated[
    int, Path(ge=0, le=1 << 31, description="The index of the node in the tree's `nodes`.", examples=[0])
]
PartOption = Annotated[
    Part,
    Query(
        description="The rows to count: those that the tree was trained on, those that the job held out, or "
        "both."
    ),
]
_DESCRIPTION = f"""\
Count the rows of the dataset that reach a node, by class and by the value of the column that the node splits.

A column of numbers has at most {MAX_BINS} bins. Every threshold of the node is an edge, so all rows of a bin
go to the same child. A column of categories has its {MAX_CATEGORIES} most frequent categories, and the others
together."""


def _responses(example: dict[str, Any], **details: str) -> dict[int | str, dict[str, Any]]:
    return {
        200: examples.answer("The rows in the node.", example, headers=_ETAG),
        304: {"description": NOT_MODIFIED, "headers": _ETAG},
        **problems(404, 409, 422, **details),
    }


@router.get(
    "/models/{model}/nodes/{node}/rows",
    operation_id="count_model_node_rows",
    summary="Count the rows in a node",
    description=_DESCRIPTION,
    response_model=ModelNodeRows,
    responses=_responses(
        node_examples.MODEL_NODE_ROWS,
        s404="There is no such model, or its tree has no such node.",
        s409="The dataset was deleted.",
    ),
    tags=["models"],
)
async def count_model_node_rows(
    request: Request,
    model: ModelName,
    node: NodeIndex,
    caller: CallerDep,
    services: ServicesDep,
    part: PartOption = "train",
    if_none_match: NoneMatch = None,
) -> Response:
    predictor = await services.predictors.of_model(caller.tenant, model)
    source = {"model_id": predictor.source["model_id"]}
    found = await run_in_threadpool(services.store.models.get, caller.tenant, source["model_id"])
    if found is None:  # deleted in the meantime
        raise ModelNotFoundError
    row_split = RowSplit(found.validation, found.sweep)
    scan = NodeScan(predictor.tree, source, node, part, found.dataset_id, row_split)
    return await scan.respond(request, services, caller.tenant)


@router.get(
    "/jobs/{job_id}/incumbent/nodes/{node}/rows",
    operation_id="count_job_node_rows",
    summary="Count the rows in a node of the best tree so far",
    description=_DESCRIPTION,
    response_model=JobNodeRows,
    responses=_responses(
        node_examples.JOB_NODE_ROWS,
        s404="There is no such job, or it has no such tree, or the tree has no such node.",
        s409="The job has not found a tree yet, or the dataset was deleted.",
    ),
    tags=["jobs"],
)
async def count_job_node_rows(
    request: Request,
    job_id: JobId,
    node: NodeIndex,
    caller: CallerDep,
    services: ServicesDep,
    part: PartOption = "train",
    revision: TreeRevision = None,
    if_none_match: NoneMatch = None,
) -> Response:
    predictor = await services.predictors.of_job(caller.tenant, job_id, revision)
    job = await run_in_threadpool(services.store.jobs.get, caller.tenant, job_id)
    if job is None:  # deleted in the meantime
        raise JobNotFoundError
    source = {"job_id": job_id, "revision": predictor.source["revision"]}
    row_split = RowSplit(job.spec.validation, job.spec.sweep)
    scan = NodeScan(predictor.tree, source, node, part, job.spec.dataset_id, row_split)
    return await scan.respond(request, services, caller.tenant)
