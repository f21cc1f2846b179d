"""Runs the baseline with more bits, and on inputs that are off by a last place. No candidate shares its process."""

from __future__ import annotations

import sys

from .calls import open_target
from .capture import Capture
from .channel import Channel, set_limits
from .codec import encode
from .decode import decode
from .invocation import invoke, parts, stored
from .landlock import restrict

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from typing import Any

LIBRARIES = "whet_libraries.zip"
"""In the tree: what the interpreter may lack."""


class Reference:
    """The baseline, loaded so that it computes with more bits."""

    def __init__(self, tree: str, bits: int, kind: str, *words: Any) -> None:
        sys.path.append(f"{tree}/{LIBRARIES}")
        from . import mp_reference, widen_floats  # once mpmath can be found

        self.mp, self.floats = mp_reference, widen_floats
        mp_reference.install(tree, bits)
        self.target: Any = open_target(tree, kind, *words)
        self.is_module = kind == "module"

    def outcome(self, capture: Capture, payload: bytes, bits: int, arguments: bool) -> bytes:
        """Returns what the baseline makes of an input with that many bits, with the arguments after it or without."""
        self.mp.use(bits)
        if self.is_module:
            given = decode(payload, self.target.resolve)
            args, kwargs = self.floats.widened((given["args"], given.get("kwargs", {})))
            args, kwargs = self.target.moved(args), {name: self.target.moved(one) for name, one in kwargs.items()}
            init = self.target.doubled(given["init"])
        else:
            init, args, kwargs = self.floats.widened(self.target.decode(payload))
        with self.floats.widened_modules():
            kind, instance, value, _ = invoke(self.target, init, args, kwargs)
        left = None if self.is_module or not arguments else (args, kwargs)
        return stored(kind, left, instance, value, capture.take())

    def near(self, payload: bytes, seed: int) -> tuple[bytes, float]:
        """Returns an input near this one, and the sum of the magnitudes of this one's floats."""
        init, args, kwargs = parts(decode(payload, self.target.resolve))
        total = self.floats.magnitude((init, args, kwargs))
        init, args, kwargs = self.floats.shaken((init, args, kwargs), seed)
        given: Any = {"init": init, "args": args, "kwargs": kwargs} if init != () or kwargs else args
        return encode(given), total


def serve(channel: Channel) -> None:
    """Answers messages until the world outside goes."""
    _, tree, memory, processes, output, rules = channel.read()
    set_limits(memory, processes, output)
    if rules:
        restrict(*rules)
    sys.stdout = capture = Capture(output)
    reference: Reference | None = None
    while True:
        operation, *words = channel.read()
        try:
            if operation == "load":
                reference = Reference(tree, *words)
                channel.write(("ok",))
                continue
            assert reference is not None
            if operation == "call":
                channel.write(("outcome", reference.outcome(capture, *words)))
            else:
                channel.write(("near", *reference.near(*words)))
        except Exception as error:  # the baseline may do anything with numbers that are not what it expects
            channel.write(("error", f"{type(error).__name__}: {error}"[:300]))


def main() -> None:
    """Entry of the process."""
    channel = Channel()
    try:
        serve(channel)
    except EOFError:
        return
