from typing import TextIO


def read_header(stream: TextIO) -> dict[str, str]:
    """Reads up to the first empty line; the body is left to the caller."""
    header: dict[str, str] = {}
    while line := stream.readline().rstrip("\n"):
        name, _, value = line.partition(":")
        header[name] = value
    return header
