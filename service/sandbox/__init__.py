"""Work on what strangers send, done in a process of its own that is thrown away afterwards.

A few thousand bytes of Parquet can unpack to any number of gigabytes, JSON is read without letting go of the
interpreter, and parsers are large programs in C++: what a hostile file does to one must not happen to the
server. A nursery has imported all that is needed and waits; for every piece of work it forks, which takes
milliseconds, and the fork has limits on its memory and time.
"""
