"""An engine belongs to one thread at a time; others may read its bounds and ask it to stop."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from literati._engine._engine import Engine

from tests.support.solver.engines import SLICE_OVER, STOPPED


def slow_engine() -> Engine:
    rng = np.random.default_rng(0)
    n_features, n_rows = 6, 4000
    codes = np.stack([rng.permutation(n_rows) for _ in range(n_features)]).astype(np.int32)
    values = [np.arange(n_rows, dtype=np.float64)] * n_features
    y = rng.integers(0, 2, n_rows).astype(np.int32)
    return Engine(
        codes,
        values,
        y,
        2,
        max_depth=6,
        max_changepoints=3,
        candidates="adaptive",
        candidate_leaves=[17],
    )


def test_other_threads_read_and_stop_but_do_not_run() -> None:
    engine = slow_engine()
    status: list[int] = []
    thread = threading.Thread(target=lambda: status.append(engine.run(60.0)))
    thread.start()
    deadline = time.monotonic() + 30.0
    while engine.expansions < 3 and time.monotonic() < deadline:
        assert engine.lower <= engine.upper
        time.sleep(0.01)
    for change in (engine.nodes, engine.checkpoint, lambda: engine.run(0.1)):
        with pytest.raises(RuntimeError, match="another thread"):
            change()
    engine.request_stop()
    thread.join(10.0)
    assert status == [STOPPED]
    assert len(engine.nodes()) > 1
    assert engine.run(0.0) == SLICE_OVER


def test_a_tree_is_written_while_stops_are_requested() -> None:
    engine = slow_engine()
    engine.run(0.2)
    wanted = engine.nodes()
    done = threading.Event()

    def pester() -> None:
        while not done.is_set():
            engine.request_stop()
            time.sleep(0.0001)

    thread = threading.Thread(target=pester)
    thread.start()
    try:
        for _ in range(20):
            assert np.array_equal(engine.nodes(), wanted)
    finally:
        done.set()
        thread.join()
    assert engine.run(1.0) == STOPPED  # the wish was kept
