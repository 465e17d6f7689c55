"""`python -m literati` is the command `literati`."""

from literati.cli import main

if __name__ == "__main__":
    main()
