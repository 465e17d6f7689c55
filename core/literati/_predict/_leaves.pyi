from typing import Any

import numpy as np
import numpy.typing as npt

NODE_DTYPE: np.dtype[Any]

def route(
    matrix: npt.NDArray[np.float64],
    nodes: npt.NDArray[Any],
    thresholds: npt.NDArray[np.float64],
    sides: npt.NDArray[np.uint8],
    leaves: npt.NDArray[np.int32],
) -> None: ...
