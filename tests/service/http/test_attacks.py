"""Attacks are answered, and while they last others are served."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import model_maker
from attacks import ATTACKS, Watched
from memory_watch import MemoryWatch
from stack import Process, Stack

GIBIBYTE = 1 << 30
LONGEST = 3.0  # seconds that another client waits, 99 times of 100; under 1 where nothing else runs
TRIES = 3  # a few questions are all that a short attack leaves time for, and one of them decides
ROW = {"size": 0.5, "age": 30, "colour": "red", "member": True, "zone": 1}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, Process, str]]:
    """With the usual limits, but for the sizes of uploads, so that it ends soon."""
    with Stack(
        tmp_path_factory.mktemp("target"),
        LITERATI_MAX_UPLOAD_BYTES=str(64 << 20),
        LITERATI_MAX_TABLE_BYTES=str(256 << 20),
    ) as stack:
        api = stack.start_api()
        model = model_maker.add_model(stack, model_maker.mixed_tree())
        yield stack, api, f"/v1/models/{model}/predict"


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack(target: tuple[Stack, Process, str], name: str) -> None:
    stack, api, path = target
    attack, expected = ATTACKS[name]
    for _ in range(TRIES):
        with MemoryWatch(api.process.pid) as memory:
            before = memory.peak
            with Watched(stack, path, ROW) as watched:
                answers = attack(stack, path)
        grown = memory.peak - before
        print(f"{name}: {sorted(set(answers))}, +{grown / GIBIBYTE:.2f} GiB; {watched.harm}")
        assert set(answers) <= expected, answers
        assert api.process.poll() is None
        assert grown < 3.5 * GIBIBYTE
        if watched.harm.worst < LONGEST and not watched.harm.failures:
            break
    assert watched.harm.failures == []
    assert watched.harm.worst < LONGEST
