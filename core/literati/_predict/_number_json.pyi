import numpy as np
import numpy.typing as npt

Found = tuple[npt.NDArray[np.float64], int] | None

def numbers_in_arrays(text: bytes, at: int, rows: int, width: int) -> Found: ...
def numbers_in_records(text: bytes, at: int, rows: int, names: list[bytes]) -> Found: ...
