"""The training service of Literati.

The folders `service` and `worker` in this package are imported by these names, as in the repository, after
this package was imported. They come first, so that modules of the same names elsewhere do no harm.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
