"""Runs jobs: the Celery app, the job store, the search on a side thread."""
