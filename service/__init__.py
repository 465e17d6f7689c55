"""The HTTP service for datasets, jobs, models and predictions, and its supervisor for one machine."""

from pathlib import Path

# `python -m service.keys` finds the commands in `cli` without the name of that folder.
__path__.append(str(Path(__file__).with_name("cli")))
