"""Extensions of torch in C++: against few of its headers, and bound to Python by a few lines of ours.

`torch/extension.h` and pybind11 are what a build by torch's own loader spends its time on. So the names of torch's
large headers lead to a small one (see `torch_headers`), and functions are bound by a few lines of whet's own. An answer
that needs more than these offer, or binds itself, is compiled against all headers.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from whet.core.errors import UsageError
from whet.sandbox.inside.torch_loader import MODULE
from whet.sandbox.interpreter import Interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.native import SHARED, Diagnostics, compiler, run_compiler
from whet.sandbox.toolchains.torch_headers import SLIM, staged_headers

ASK = (
    "import json, sysconfig, torch; from pathlib import Path; print(json.dumps([str(Path(torch.__file__).parent), "
    "torch.__version__, sysconfig.get_paths()['include'], int(torch._C._GLIBCXX_USE_CXX11_ABI)]))"
)
FLAGS = ("-std=c++20", "-O3", "-march=native", "-fopenmp")
OWN = re.compile(r"\b(PYBIND11_MODULE|TORCH_LIBRARY\w*|pybind11|py\s*::)")
"""What only an answer holds that binds itself."""
LACKING = re.compile(
    r"is not a member of|has not been declared|was not declared|does not name a type|whet: |incomplete type|undefined "
    r"reference|no matching function|has no member|in namespace .(torch|at|c10|std)"
)
"""What the compiler says where something of the large headers may be missing."""


@dataclass(frozen=True, slots=True)
class Torch:
    """The torch of an interpreter.

    Attributes:
        folder: of its package.
        version: of it.
        python: folder of Python's own headers.
        abi: what ``_GLIBCXX_USE_CXX11_ABI`` has to be.
    """

    folder: Path
    version: str
    python: str
    abi: int

    @property
    def flags(self) -> tuple[str, ...]:
        """Where its headers are, and how it was compiled."""
        include = self.folder / "include"
        folders = (include, include / "torch/csrc/api/include", self.python)
        named = f"-DTORCH_EXTENSION_NAME={MODULE}"
        return (*(f"-isystem{one}" for one in folders), f"-D_GLIBCXX_USE_CXX11_ABI={self.abi}", named)

    @property
    def libraries(self) -> tuple[str, ...]:
        """What an extension is linked to."""
        return (f"-L{self.folder / 'lib'}", "-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python")


@cache
def find_torch(interpreter: Interpreter) -> Torch:
    """Returns the torch of an interpreter.

    Raises:
        UsageError: it has none.
    """
    command = [str(interpreter.executable), "-s", "-c", ASK]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        raise UsageError(f"{interpreter.executable} has no torch; install with: pip install 'whet[torch]'")
    folder, version, python, abi = json.loads(done.stdout)
    return Torch(Path(folder), version, python, abi)


def compile_extension(
    sandbox: Sandbox, interpreter: Interpreter, source: str, functions: Sequence[str], flags: Sequence[str]
) -> list[bytes] | Diagnostics:
    """Returns the bytes of an extension, or the compiler's words.

    Args:
        sandbox: where to compile.
        interpreter: whose torch it is for.
        source: the text.
        functions: that it offers; empty where its text says so itself.
        flags: after ours.

    Raises:
        UsageError: there is no compiler, or no torch.
    """
    torch = find_torch(interpreter)
    if not OWN.search(source):
        found = _compile(sandbox, interpreter, torch, slim_text(source, functions), flags, slim=True)
        if not isinstance(found, Diagnostics) or not LACKING.search(found.text):
            return found
    return _compile(sandbox, interpreter, torch, whole_text(source, functions), flags, slim=False)


def slim_text(source: str, functions: Sequence[str]) -> str:
    """Returns a source with what binds its functions, for the small header."""
    rows = "".join(
        f'  {{"{name}", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(&whet::bound<&{name}>)), METH_FASTCALL, '
        "nullptr},\n"
        for name in functions
    )
    table = f"static PyMethodDef whet_methods[] = {{\n{rows}  {{nullptr, nullptr, 0, nullptr}}}};\n"
    module = f'static PyModuleDef whet_module = {{PyModuleDef_HEAD_INIT, "{MODULE}", nullptr, -1, whet_methods}};\n'
    start = f"PyMODINIT_FUNC PyInit_{MODULE}() {{ return PyModule_Create(&whet_module); }}\n"
    return f'#include "{SLIM}"\n#line 1 "answer.cpp"\n{source}\n#line 1 "binding.cpp"\n{table}{module}{start}'


def whole_text(source: str, functions: Sequence[str]) -> str:
    """Returns a source with what binds its functions, for all headers."""
    rows = "".join(f'  m.def("{name}", torch::wrap_pybind_function({name}), "{name}");\n' for name in functions)
    module = f"PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{\n{rows}}}\n" if functions else ""
    return f'#include <torch/extension.h>\n#line 1 "answer.cpp"\n{source}\n#line 1 "binding.cpp"\n{module}'


def _compile(
    sandbox: Sandbox, interpreter: Interpreter, torch: Torch, text: str, flags: Sequence[str], slim: bool
) -> list[bytes] | Diagnostics:
    words = [compiler("cpp"), *SHARED, *FLAGS, *torch.flags, *flags]
    headers = staged_headers(sandbox, interpreter, words) if slim else None
    folders = '-I"$TREE" -I"$TREE/shadow"' if slim else ""
    build = f"{shlex.join(words)} {folders} answer.cpp -o library.so {shlex.join(torch.libraries)}"
    steps = ["cd /tmp", "cat > answer.cpp", build]
    return run_compiler(sandbox, interpreter, steps, text.encode(), ["/tmp/library.so"], headers)
