"""Lets ``python -m whet`` start the command line."""

import sys

from whet.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
