"""Lets ``python -m whet`` start the command line."""

from whet.cli.main import main

if __name__ == "__main__":
    main()
