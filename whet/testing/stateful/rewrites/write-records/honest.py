from typing import BinaryIO


def write_records(stream: BinaryIO, records: list[int]) -> int:
    """Writes each number behind what is there, as its text with a semicolon; returns the bytes written."""
    return stream.write("".join([f"{record};" for record in records]).encode())
