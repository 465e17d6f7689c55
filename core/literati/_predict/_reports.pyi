import numpy as np
import numpy.typing as npt

def unusual_cells(
    matrix: npt.NDArray[np.float64], lows: npt.NDArray[np.float64], highs: npt.NDArray[np.float64]
) -> dict[int, npt.NDArray[np.intp]]: ...
def joined_parts(parts: list[bytes], leaves: npt.NDArray[np.int32]) -> bytes: ...
