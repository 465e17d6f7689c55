"""Run training jobs: the Celery app, the store of records, and the search of each job."""
