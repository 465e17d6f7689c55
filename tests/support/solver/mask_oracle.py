"""The compiled oracle `mask_oracle.c` as a function of a problem: exact optima of up to 63 rows.

The C file is compiled when it is first needed, into `build/`, under a name made of its contents.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.support.paths import ROOT
from tests.support.solver.problems import MODES, Problem

SOURCE = Path(__file__).with_name("mask_oracle.c")
BUILD = ROOT / "build" / "mask_oracle"
MOST_ROWS = 63

_DOUBLE, _INT, _WORD, _POINTER = ctypes.c_double, ctypes.c_int32, ctypes.c_uint64, ctypes.c_void_p
_SIGNATURES = {
    "oracle_new": (_POINTER, [_INT] * 7 + [_DOUBLE] * 2 + [_POINTER] * 8 + [_INT] * 2),
    "oracle_free": (None, [_POINTER]),
    "oracle_value": (_DOUBLE, [_POINTER, _WORD, _INT, ctypes.c_int64]),
    "oracle_cuts": (None, [_POINTER, _WORD, _INT, _POINTER]),
    "oracle_near_ties": (ctypes.c_int64, [_POINTER]),
    "oracle_states": (ctypes.c_int64, [_POINTER]),
}


@cache
def library() -> ctypes.CDLL:
    """Compile the oracle unless another process has done so, and load it."""
    compiler = [*shlex.split(os.environ.get("CC", "cc")), "-O2", "-std=gnu11", "-ffp-contract=off"]
    name = sha256(repr(compiler).encode() + SOURCE.read_bytes()).hexdigest()[:16]
    target = BUILD / f"{name}.so"
    if not target.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:  # two processes may compile at the same time
            made = Path(folder) / "oracle.so"
            command = [*compiler, "-shared", "-fPIC", "-o", str(made), str(SOURCE), "-lm"]
            subprocess.run(command, check=True)
            made.replace(target)
    loaded = ctypes.CDLL(str(target))
    for function, (result, arguments) in _SIGNATURES.items():
        getattr(loaded, function).restype = result
        getattr(loaded, function).argtypes = arguments
    return loaded


def unit_of(weights: list[float]) -> float:
    """The smallest power of two, not below 1, that makes every weight a whole number."""
    return float(max(weight.as_integer_ratio()[1] for weight in weights))


class MaskOracle:
    """The values of all states of a problem, solved when they are asked for."""

    def __init__(self, problem: Problem) -> None:
        if problem.n_rows > MOST_ROWS:
            raise ValueError(f"expected at most {MOST_ROWS} rows, got {problem.n_rows}")
        self.problem = problem
        n_features = len(problem.codes)
        weights = [float(weight) for weight in problem.weights or [1.0] * problem.n_rows]
        values = np.zeros((n_features, 64))
        for j, column in enumerate(problem.values):
            values[j, : len(column)] = column
        grid = [sum(1 << position for position in positions) for positions in problem.grid or []]
        # The C side keeps pointers to these.
        self._arrays: list[npt.NDArray[Any]] = [
            np.array(problem.codes, dtype=np.int32),
            np.array([problem.cardinality(j) for j in range(n_features)], dtype=np.int32),
            values,
            np.array(problem.y, dtype=np.int32),
            np.array(weights),
            np.array(weights) * unit_of(weights),
            np.array(grid or [0] * n_features, dtype=np.uint64),
            np.array(problem.candidate_leaves, dtype=np.int32),
        ]
        self._handle = library().oracle_new(
            problem.n_rows,
            n_features,
            problem.n_classes,
            problem.max_depth,
            problem.max_changepoints,
            MODES.index(problem.candidates),
            problem.criterion == "entropy",
            problem.split_penalty,
            problem.changepoint_penalty,
            *(array.ctypes.data for array in self._arrays),
            len(problem.candidate_leaves),
            problem.min_samples_leaf,
        )
        if not self._handle:
            raise MemoryError("no memory for the oracle")

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            library().oracle_free(self._handle)

    def value(self, rows: int, depth_left: int, most_splits: int = 0) -> float:
        """The least cost of any tree of this depth on these rows; NaN if that takes more splits (0: any)."""
        return float(library().oracle_value(self._handle, rows, depth_left, most_splits))

    def optimum(self, most_splits: int = 0) -> float:
        return self.value((1 << self.problem.n_rows) - 1, self.problem.max_depth, most_splits)

    def cuts(self, rows: int, depth_left: int) -> list[set[int]]:
        """Per feature the positions where a change point may lie."""
        found = np.zeros(len(self.problem.codes), dtype=np.uint64)
        library().oracle_cuts(self._handle, rows, depth_left, found.ctypes.data)
        return [{c for c in range(64) if int(word) >> c & 1} for word in found]

    @property
    def near_ties(self) -> int:
        """How many decisions of CART hung on less than 1e-9 of a score: there rounding chooses the space."""
        return int(library().oracle_near_ties(self._handle))

    @property
    def states(self) -> int:
        """How many states of depth left 2 or more were solved."""
        return int(library().oracle_states(self._handle))


def optimum(problem: Problem) -> float:
    """The least objective of any tree in the problem's space."""
    return MaskOracle(problem).optimum()
