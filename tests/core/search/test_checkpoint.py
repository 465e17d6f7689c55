"""Checkpoint and resume: nothing that was known is lost, and the end is the same."""

from __future__ import annotations

import pytest

from tests.support.solver.engines import EXPANSION_LIMIT, PATIENCE, PROVEN, engine, proven_engine
from tests.support.solver.problems import MODES, Problem, random_problem
from tests.support.solver.trees import check_legal, objective


def long_problems(mode: str, count: int) -> list[Problem]:
    """Problems that take the search a few expansions."""
    found: list[Problem] = []
    for seed in range(20_000, 22_000):
        problem = random_problem(seed, depth=3 + seed % 2, mode=mode)
        if proven_engine(problem).expansions >= 4:
            found.append(problem)
        if len(found) == count:
            return found
    raise AssertionError(f"only {len(found)} of 2000 problems take the search four expansions")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_resume_after_every_expansion(mode: str) -> None:
    for problem in long_problems(mode, 8):
        whole = proven_engine(problem)
        for limit in range(whole.expansions):
            search = engine(problem)
            # A round that the limit shortens may prove the optimum with fewer expansions.
            assert search.run(PATIENCE, max_expansions=limit) in (EXPANSION_LIMIT, PROVEN)
            assert search.expansions <= limit
            resumed = engine(problem)
            resumed.restore(search.checkpoint())
            assert resumed.upper <= search.upper
            assert resumed.lower >= search.lower
            assert objective(problem, resumed.nodes()) == resumed.upper
            assert resumed.run(PATIENCE) == PROVEN
            assert resumed.upper == whole.upper
            assert resumed.lower == whole.upper
            check_legal(problem, resumed.nodes())
            assert objective(problem, resumed.nodes()) == whole.upper


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("every", [1, 2, 5])
def test_a_chain_of_kills_still_ends(mode: str, every: int) -> None:
    for problem in long_problems(mode, 5):
        whole = proven_engine(problem)
        blob: bytes | None = None
        upper, lower = float("inf"), 0.0
        for _ in range(20 * whole.expansions + 20):
            search = engine(problem)
            before = 0
            if blob is not None:
                search.restore(blob)
                before = search.expansions
            assert search.upper <= upper or blob is None
            status = search.run(PATIENCE, max_expansions=before + every)
            assert search.upper <= upper
            assert search.lower >= lower
            upper, lower = search.upper, search.lower
            if status == PROVEN:
                break
            blob = search.checkpoint()
        assert upper == lower == whole.upper, problem.name


@pytest.mark.parametrize("mode", MODES)
def test_a_small_checkpoint_forgets_but_never_lies(mode: str) -> None:
    for problem in long_problems(mode, 5):
        whole = proven_engine(problem)
        search = engine(problem)
        search.run(PATIENCE, max_expansions=whole.expansions // 2)
        for room in (1 << 10, 1 << 12, 1 << 24):
            blob = search.checkpoint(max_bytes=room)
            assert isinstance(blob, bytes)
            assert len(blob) <= room
            resumed = engine(problem)
            resumed.restore(blob)
            assert resumed.lower <= whole.upper <= resumed.upper <= search.upper
            assert resumed.lower >= search.lower
            assert resumed.run(PATIENCE) == PROVEN
            assert resumed.upper == whole.upper


def test_a_finished_search_resumes_finished() -> None:
    problem = long_problems("adaptive", 1)[0]
    whole = proven_engine(problem)
    resumed = engine(problem)
    resumed.restore(whole.checkpoint())
    assert (resumed.upper, resumed.lower) == (whole.upper, whole.lower)
    assert resumed.run(PATIENCE) == PROVEN
    assert objective(problem, resumed.nodes()) == whole.upper


def test_damaged_checkpoints_are_refused() -> None:
    problem = long_problems("adaptive", 1)[0]
    search = engine(problem)
    search.run(PATIENCE, max_expansions=2)
    blob = search.checkpoint()
    broken = [b"", b"x", blob[: len(blob) // 2], blob[:-1], blob + b"\0"]
    for damaged in broken:
        with pytest.raises(ValueError, match="checkpoint"):
            engine(problem).restore(damaged)
    refused = 0
    for place in range(len(blob)):
        flipped = bytearray(blob)
        flipped[place] ^= 0x80
        resumed = engine(problem)
        try:
            resumed.restore(bytes(flipped))
        except ValueError:
            refused += 1
        else:  # what a caller's checksum would have caught must not bring the process down either
            assert resumed.run(PATIENCE) == PROVEN
            resumed.nodes()
    assert refused > 10
    other = problem.but(max_depth=problem.max_depth - 1)
    with pytest.raises(ValueError, match="checkpoint"):
        engine(other).restore(blob)


@pytest.mark.parametrize("change", ["candidates", "candidate_leaves", "criterion"])
def test_a_checkpoint_of_another_space_is_refused(change: str) -> None:
    problem = long_problems("adaptive", 1)[0]
    others = {
        "candidates": problem.but(candidates="shape"),
        "candidate_leaves": problem.but(candidate_leaves=[problem.candidate_leaves[0] + 1]),
        "criterion": problem.but(criterion="entropy" if problem.criterion == "gini" else "gini"),
    }
    search = engine(problem)
    search.run(PATIENCE, max_expansions=2)
    with pytest.raises(ValueError, match="belongs to another search: options"):
        engine(others[change]).restore(search.checkpoint())
