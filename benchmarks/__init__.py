"""Literati beside its peers: every run in a fresh process on one core, results as JSON and tables."""
