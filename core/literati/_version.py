"""The version, kept apart so that every module can name it without an import cycle."""

__version__ = "0.1.0"
