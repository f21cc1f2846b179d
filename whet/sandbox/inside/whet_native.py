"""C and C++ for answers: ``whet_native.build(source)`` returns the path of a shared object for ctypes.

Within whet an answer's process never compiles: what it asks for is compiled apart, while the answer is built, and found
from then on. Anywhere else this file works by itself: it compiles once and keeps the result in the user's cache.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Sequence
    from typing import Any

FLAGS = ("-O3", "-march=native", "-fopenmp")
COMPILERS = {"c": "gcc", "cpp": "g++"}
FOLDER = "whet_libraries"
"""In the staged tree."""


class Unbuilt(BaseException):
    """Asked for a library that is not built yet: no answer shall take that for a missing compiler."""


class Libraries:
    """What was built for an answer, and what it asked for in vain.

    Attributes:
        folder: where the built ones lie; None outside whet.
        cuda: whether those with CUDA in them are built too.
        wanted: the first that was not there, as JSON; empty where there is none.
    """

    def __init__(self) -> None:
        self.folder: str | None = None
        self.cuda = False
        self.wanted = ""

    def find(self, asked: dict[str, Any]) -> str:
        """Returns the path of a library.

        Raises:
            Unbuilt: it is not there.
        """
        assert self.folder is not None, "only within whet"
        path = os.path.join(self.folder, f"{name_of(described(asked))}.so")
        if not os.path.exists(path):
            self.wanted = self.wanted or described(asked)
            raise Unbuilt("its library is not built; an answer asks for it while its module is loaded, not in a call")
        return path


LIBRARIES = Libraries()


def described(asked: dict[str, Any]) -> str:
    """Returns what a library is made from as text."""
    return json.dumps(asked, sort_keys=True)


def name_of(asked: str) -> str:
    """Returns the name of a library: what it is made from, hashed."""
    return hashlib.sha256(asked.encode()).hexdigest()[:32]


def build(source: str, flags: Sequence[str] = FLAGS, language: str = "cpp") -> str:
    """Returns the path of a shared object made from a source text.

    Args:
        source: C, or C++ with its functions ``extern "C"``.
        flags: of the compiler, after ``-shared -fPIC``.
        language: ``c`` or ``cpp``.

    Raises:
        ValueError: there is no such language.
        RuntimeError: outside whet, with the compiler's words.
    """
    if language not in COMPILERS:
        raise ValueError(f"language is {' or '.join(COMPILERS)}, not {language!r}")
    asked = {"kind": language, "source": str(source), "flags": [str(flag) for flag in flags]}
    return LIBRARIES.find(asked) if LIBRARIES.folder is not None else _compiled(asked)


def load(source: str, flags: Sequence[str] = FLAGS, language: str = "cpp") -> ctypes.CDLL:
    """Returns the library of `build`, loaded."""
    return ctypes.CDLL(build(source, flags, language))


def _compiled(asked: dict[str, Any]) -> str:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(home, "whet", "libraries")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, f"{name_of(described(asked))}.so")
    if not os.path.exists(path):
        part = f"{path}.{os.getpid()}"
        words = ["-shared", "-fPIC", *asked["flags"], "-x", "c++" if asked["kind"] == "cpp" else "c", "-", "-o", part]
        command = [COMPILERS[asked["kind"]], *words]
        done = subprocess.run(command, input=asked["source"], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        os.replace(part, path)
    return path
