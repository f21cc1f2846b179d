from typing import TextIO


def read_header(stream: TextIO) -> dict[str, str]:
    """Reads up to the first empty line; the body is left to the caller."""
    header: dict[str, str] = {}
    line = ""
    while True:
        character = stream.read(1)
        if character and character != "\n":
            line = line + character
            continue
        if not line:
            return header
        name, _, value = line.partition(":")
        header[name] = value
        line = ""
