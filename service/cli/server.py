"""`python -m service.server`: run the API server by itself, on LITERATI_HOST and LITERATI_PORT."""

from service.api_server import main

if __name__ == "__main__":
    main()
