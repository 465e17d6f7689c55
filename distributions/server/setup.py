"""Set the version and the requirements; everything else stands in pyproject.toml."""

import runpy
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
VERSION = runpy.run_path(str(HERE / "_version.py"))["__version__"]
REQUIREMENTS = (HERE / "requirements.in").read_text(encoding="utf-8").splitlines()

setup(
    version=VERSION,
    # The service uses parts of the library that are not public, so the two have one version.
    install_requires=[f"literati-trees=={VERSION}", *(line for line in REQUIREMENTS if line[:1].isalpha())],
)
