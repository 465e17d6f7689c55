"""Checks of request bodies that several resources share."""
