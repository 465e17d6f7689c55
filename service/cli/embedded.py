"""`python -m service.embedded`: run a private store, a worker and the API server on this machine."""

import sys

from service.supervisor.supervisor import main

if __name__ == "__main__":
    sys.exit(main())
