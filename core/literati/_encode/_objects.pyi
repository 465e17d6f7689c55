from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

TEXT: int
NUMBER: int
FLOAT: int
MISSING: int
TIME: int
OTHER: int

def factorize(cells: list[Any]) -> tuple[npt.NDArray[np.int32], list[Any]]: ...

class ObjectReader:
    types: set[type]
    codes: npt.NDArray[np.int32] | None
    labels: list[Any]
    values: npt.NDArray[np.float64] | None
    error: Exception | None
    def __init__(self, what_is: Callable[[type], int]) -> None: ...
    def read(self, cells: list[Any]) -> ObjectReader: ...
