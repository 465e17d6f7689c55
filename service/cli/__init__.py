"""Commands that are run as `python -m service.NAME`, where NAME is a module of this folder."""
