from typing import BinaryIO


def write_records(stream: BinaryIO, records: list[int]) -> int:
    """Writes each number behind what is there, as its text with a semicolon; returns the bytes written."""
    written = 0
    for record in records:
        for character in str(record) + ";":
            written += stream.write(character.encode())
    return written
