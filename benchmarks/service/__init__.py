"""Compare the service with MLServer, and measure jobs and uploads: `make bench-service`."""
