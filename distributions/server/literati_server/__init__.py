"""The training service of Literati.

The folders `service` and `worker` of this package are imported by these names, as in the repository. Importing
this package makes them importable. They come first, so that folders of the same names elsewhere do no harm.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
