"""Sweeps: what is tried, the table of trials, and the choice."""
