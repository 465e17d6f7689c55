"""The best tree of a job while it is being found, and every tree before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service.conditional import json_answer, matches, not_modified, strong_tag
from service.dependencies import CallerDep, HubDep, SettingsDep, StoreDep
from service.errors import Problem, not_found
from service.job_views import current_incumbent, frozen_incumbent
from service.query_options import CHECKED_OPTIONS
from service.routes.jobs import RETRY_SECONDS, NoneMatch, Prefer, stored_job
from service.schemas import examples
from service.schemas.jobs import Incumbent, NoIncumbentYet
from service.schemas.problem import problems
from service.schemas.requests import JobId
from service.waiting import Wait
from worker import messages
from worker.store import Store

router = APIRouter(prefix="/v1/jobs", tags=["jobs"], dependencies=[CHECKED_OPTIONS])
_HELD = {"Preference-Applied": examples.header("The wait that was granted: `wait=N`.")}
_TAGGED = {"ETag": examples.header("Strong: covers the tree and its bounds."), **_HELD}


@dataclass(frozen=True)
class Sight:
    """A job and the tree asked for, if it is there; both of one moment."""

    job: messages.Job
    found: messages.Incumbent | None
    frozen: bool

    @property
    def tag(self) -> str | None:
        if self.found is None:
            return None
        if self.frozen:
            return strong_tag(self.found.revision)
        progress = self.job.progress
        bounds = (progress.upper_bound, progress.lower_bound, self.job.proven_optimal)
        return strong_tag(self.found.revision, *bounds)


def _look(store: Store, tenant: str, job_id: str, revision: int | None, kept: int) -> Sight:
    """Without a revision the job says which one: its bounds must not be newer than the tree."""
    job = stored_job(store, tenant, job_id)
    wanted = job.progress.incumbents if revision is None else revision
    if not 0 < wanted <= job.progress.incumbents:
        return Sight(job, None, revision is not None)
    found = store.jobs.incumbent(tenant, job_id, wanted)
    if found is None:
        detail = f"This tree is not kept: of a job's trees the last {kept:,} are (LITERATI_MAX_INCUMBENTS)."
        raise Problem(404, detail, kind="not-found")
    return Sight(job, found, revision is not None)


@router.get(
    "/{job_id}/incumbent",
    operation_id="get_incumbent",
    summary="The best tree so far",
    response_model=Incumbent,
    responses={
        200: examples.answer("The tree and its bounds.", examples.INCUMBENT, headers=_TAGGED),
        202: {
            "model": NoIncumbentYet,
            **examples.answer(
                "No tree yet, or not the one waited for.",
                examples.NO_INCUMBENT,
                headers={"Retry-After": examples.header("Seconds.", "integer"), **_HELD},
            ),
        },
        304: {"description": "The client has it already (`If-None-Match`).", "headers": _TAGGED},
        **problems(404, 422, s404="No such job, or no such tree and none can come."),
    },
)
async def get_incumbent(
    request: Request,
    job_id: JobId,
    caller: CallerDep,
    store: StoreDep,
    hub: HubDep,
    settings: SettingsDep,
    revision: Annotated[
        int | None,
        Query(ge=1, le=1 << 53, description="This tree, frozen with the bounds of when it was found."),
    ] = None,
    if_none_match: NoneMatch = None,
    prefer: Prefer = None,
) -> Response:
    """The tree, its cost, and how far from the best of its space it can be at most.

    With `Prefer: wait` the answer comes as soon as there is a tree that the client does not have
    (`If-None-Match`), or bounds that it does not know. With `revision=N` too, it comes when tree N is there:
    ask for 1, 2, 3, ... and see every one of them. If it is not there in time, the answer is 202.
    """
    wait = Wait(request, hub, job_id, caller.tenant)
    kept = settings.max_incumbents

    def enough(sight: Sight) -> bool:
        if sight.tag is None:
            return sight.job.state.terminal
        return sight.frozen or sight.job.state.terminal or not matches(request, sight.tag)

    sight = await wait.until(lambda: _look(store, caller.tenant, job_id, revision, kept), enough)
    if sight.found is None or sight.tag is None:
        return _absent(sight, wait)
    if matches(request, sight.tag):
        return not_modified(sight.tag, wait.headers)
    view = frozen_incumbent(sight.found) if sight.frozen else current_incumbent(sight.found, sight.job)
    return json_answer(view, tag=sight.tag, headers=wait.headers)


def _absent(sight: Sight, wait: Wait) -> Response:
    """202 while it may still come; a revision that nobody waits for is simply not there."""
    job = sight.job
    if job.state.terminal or (sight.frozen and not wait.preferred):
        raise not_found("tree")
    body = NoIncumbentYet(job_id=job.spec.id, state=job.state, revision=job.progress.incumbents)
    return json_answer(body, status=202, headers={**wait.headers, "Retry-After": str(RETRY_SECONDS)})
