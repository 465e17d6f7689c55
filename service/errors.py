"""Errors of the processes of the service. Errors of requests are in `service.http.problems`."""


class StartError(Exception):
    """The service cannot start. The message is a sentence with the reason and the remedy."""
