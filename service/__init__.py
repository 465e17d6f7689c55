"""Speaks HTTP: datasets, jobs, models and predictions, and the supervisor that runs it all on one machine."""
