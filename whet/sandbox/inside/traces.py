"""Where in the target's own file an exception came from."""

from __future__ import annotations

MOST = 4
"""Calls that are told; the innermost ones, where there are more."""
LONGEST_NAME = 80
"""Characters of a function's name. More let a candidate make reports longer; fewer cut off more names."""


def trace(error: BaseException, path: str) -> str:
    """Returns lines and functions of one file that an exception went through, as text, outermost first."""
    found = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename == path:
            found.append(f"line {step.tb_lineno} in {code.co_name[:LONGEST_NAME]}")
        step = step.tb_next
    return ", ".join(found[-MOST:])
