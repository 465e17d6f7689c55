"""Backups of the store and the blobs, made while everything runs, and their restoration."""
