"""`python -m worker`: run a worker, with the options of `celery worker`."""

import sys

import worker.app  # noqa: F401 -- otherwise Celery would import it from the current folder, if that has a `worker`
from celery.__main__ import main

if __name__ == "__main__":
    sys.argv[1:1] = ["-A", "worker.app", "worker"]
    main()
