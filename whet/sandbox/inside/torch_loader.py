"""Stands for `torch.utils.cpp_extension` in an answer's process: ``load_inline`` finds what was built before.

The loader of torch compiles where it is called. Here that would be in the process that is judged and timed, in each one
anew; so the call only says what is to be built, and `whet_native.LIBRARIES` finds it.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import types
from importlib.machinery import ExtensionFileLoader, ModuleSpec

from . import whet_native

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost each start 8 ms
    from collections.abc import Mapping, Sequence
    from typing import Any

NAME = "torch.utils.cpp_extension"
MODULE = "whet_extension"
"""What each extension is called: the name that an answer gives stands in nothing that is compiled."""


def install(tree: str, cuda: bool = False) -> None:
    """Lets answers of a tree find their libraries, by `whet_native` and by torch's loader; with CUDA on a GPU alone."""
    whet_native.LIBRARIES.folder = os.path.join(tree, whet_native.FOLDER)
    whet_native.LIBRARIES.cuda = cuda
    sys.modules["whet_native"] = whet_native
    stand_in = types.ModuleType(NAME, __doc__)
    stand_in.load_inline = load_inline  # type: ignore[attr-defined]
    stand_in.__getattr__ = _genuine  # type: ignore[method-assign]
    sys.modules[NAME] = stand_in
    sys.modules["torch.utils"].cpp_extension = stand_in  # type: ignore[attr-defined]


def _genuine(name: str) -> Any:
    """Returns what else torch's own module holds."""
    if name.startswith("__"):
        raise AttributeError(name)
    alias = "torch.utils.genuine_cpp_extension"
    if alias not in sys.modules:
        path = os.path.join(sys.modules["torch.utils"].__path__[0], "cpp_extension.py")
        found = importlib.util.spec_from_file_location(alias, path)
        assert found is not None
        assert found.loader is not None
        sys.modules[alias] = importlib.util.module_from_spec(found)
        found.loader.exec_module(sys.modules[alias])
    return getattr(sys.modules[alias], name)


def load_inline(
    name: str,
    cpp_sources: str | Sequence[str],
    cuda_sources: str | Sequence[str] | None = None,
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    is_python_module: bool = True,
    **settings: Any,
) -> Any:
    """Returns the extension that was built from these sources; see `torch.utils.cpp_extension.load_inline`.

    What else it takes (``build_directory``, ``verbose``, ``with_cuda`` and the like) says where and how to compile, and
    is not heeded.

    Raises:
        RuntimeError: there are CUDA sources, and the answer runs on the CPU.
        whet_native.Unbuilt: it is not built yet.
    """
    if cuda_sources and not whet_native.LIBRARIES.cuda:
        raise RuntimeError("CUDA sources need a GPU: no CUDA GPUs are available")
    names = [functions] if isinstance(functions, str) else list(functions or ())
    asked = {
        "kind": "torch",
        "source": _joined(cpp_sources),
        "functions": [str(one) for one in names],
        "flags": [str(flag) for flag in (*(extra_cflags or ()), *(extra_ldflags or ()))],
    }
    if cuda_sources:
        host = [f"-Xcompiler={flag}" for flag in extra_cflags or ()]
        asked["kind"] = "cuda"
        asked["source"] = f'{_joined(cpp_sources)}\n#line 1 "answer.cu"\n{_joined(cuda_sources)}'
        asked["flags"] = [*host, *map(str, extra_cuda_cflags or ()), *map(str, extra_ldflags or ())]
    path = whet_native.LIBRARIES.find(asked)
    if not is_python_module:
        import torch

        torch.ops.load_library(path)
        return path
    loader = ExtensionFileLoader(MODULE, path)
    module = importlib.util.module_from_spec(ModuleSpec(MODULE, loader, origin=path))
    loader.exec_module(module)
    return module


def _joined(sources: str | Sequence[str]) -> str:
    return sources if isinstance(sources, str) else "\n".join(sources)
