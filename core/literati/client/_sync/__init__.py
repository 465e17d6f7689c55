"""The synchronous client. `make client` writes it from the asynchronous one."""
