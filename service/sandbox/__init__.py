"""Run work on untrusted input in a child process with limits on its memory and time.

A few kilobytes of Parquet can decompress to gigabytes, and parsers written in C++ may crash. A fork server
has all modules imported and forks a process for each task, which takes milliseconds.
"""
