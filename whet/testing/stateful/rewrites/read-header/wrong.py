from typing import TextIO


def read_header(stream: TextIO) -> dict[str, str]:
    """Reads up to the first empty line; the body is left to the caller."""
    head = stream.read().partition("\n\n")[0]
    return {name: value for name, _, value in (line.partition(":") for line in head.split("\n") if line)}
