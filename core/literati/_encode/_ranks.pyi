import numpy as np
import numpy.typing as npt

def rank_numbers(
    values: npt.NDArray[np.float64], codes: npt.NDArray[np.int32]
) -> npt.NDArray[np.float64]: ...
