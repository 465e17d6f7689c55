"""The service beside MLServer, and what a job and an upload cost: `make bench-service`."""
