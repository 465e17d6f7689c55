"""The asynchronous client. `make client` writes the synchronous one from it."""
