"""`python -m literati_server`: the same as the command `literati-server`."""

from literati_server.cli import main

main(prog_name="python -m literati_server")
