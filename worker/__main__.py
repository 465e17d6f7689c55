"""`python -m worker`: run a worker, with the options of `celery worker`."""

import sys

from celery.__main__ import main
from pydantic import ValidationError

from worker.settings import explain

try:
    # Celery imports modules from the current folder first, which may have a `worker` of its own.
    import worker.tasks  # noqa: F401
except ValidationError as error:
    sys.exit(explain(error))

if __name__ == "__main__":
    sys.argv[1:1] = ["-A", "worker.app", "worker"]
    main()
