"""C and C++ targets that are a part of a project: local headers, several files, make and CMake."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from whet.core.errors import BaselineError, UsageError
from whet.core.events import Event
from whet.core.options import Options
from whet.core.task import Task
from whet.evaluators.artifacts import Artifact, Builder
from whet.evaluators.finding import Fault
from whet.evaluators.native_tree import native_tree
from whet.evaluators.project_build import CMAKE
from whet.evaluators.prototypes import NoContractError, contract_of, definitions
from whet.evaluators.targets import read_task
from whet.sandbox.backends import open_sandbox
from whet.sandbox.inside.codec import encode
from whet.sandbox.inside.decode import decode
from whet.sandbox.interpreter import find_interpreter
from whet.sandbox.protocol import Sandbox
from whet.sandbox.toolchains.assembly import Assembled, object_file

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

MAIN = (
    '#include <stdio.h>\n#include "deep.h"\nint main(void) { long n; scanf("%ld", &n); printf("%ld\\n", deep(n)); }\n'
)
DEEP = '#include "deep.h"\n#include "part/near.h"\nlong deep(long n) { return near_by(n) + SHIFT; }\n'
FILES = {
    "src/main.c": MAIN,
    "src/deep.c": DEEP,
    "include/deep.h": "#define SHIFT 100\nlong deep(long n);\n",
    "include/part/near.h": "long near_by(long n);\n",
    "src/near.c": '#include "part/near.h"\nlong near_by(long n) { return 2 * n; }\n',
    "src/other.c": "int main(void) { return 1; }\n",
    "cases/a.in": "4\n",
}
WEIGH = '#include "deep.h"\nlong weigh(const int *values, long n) { return deep(n) + (n ? values[n - 1] : 0); }\n'
MAKEFILE = "app: src/*.c\n\t$(CC) -Iinclude -o app src/main.c src/deep.c src/near.c\n"


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", FILES)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with closing(open_sandbox("bubblewrap", unsafe=False)) as opened:
        yield opened


def answer(task: Task, sandbox: Sandbox, source: str, given: bytes) -> object:
    built = Builder(task, sandbox, find_interpreter(), layouts=1).build(source)
    if isinstance(built, Fault):
        return built.detail
    assert isinstance(built, Artifact)
    process = built.start()
    assert not isinstance(process, Fault), process
    with closing(process):
        found = process.call(given, 10.0)
    assert not isinstance(found, Fault), found
    return decode(found[0])


def test_headers_and_the_sources_behind_them_come_along(project: Path) -> None:
    found = native_tree(project / "src/main.c", MAIN, program=True)

    assert found.root == project
    assert set(found.texts) == {"include/deep.h", "src/deep.c", "include/part/near.h", "src/near.c"}


def test_a_part_of_a_program_is_built_with_the_source_that_has_main(project: Path, sandbox: Sandbox) -> None:
    task = read_task(str(project / "src/deep.c"), Options(workload=project / "cases"))

    assert (task.filename, "src/main.c" in task.support, "src/other.c" in task.support) == ("src/deep.c", True, False)
    assert answer(task, sandbox, DEEP, b"4\n")[1] == b"108\n"  # type: ignore[index]
    assert answer(task, sandbox, DEEP.replace("+ SHIFT", "- SHIFT"), b"4\n")[1] == b"-92\n"  # type: ignore[index]
    assert "deep.c:1" in str(answer(task, sandbox, '#include "lost.h"\n', b"4\n"))


def test_a_function_is_compiled_with_its_project_and_its_contract_is_told(project: Path, sandbox: Sandbox) -> None:
    write(project, {"src/weigh.c": WEIGH})
    heard: list[Event] = []
    task = read_task(f"{project}/src/weigh.c::weigh", Options(), heard.append)

    said = "contract read from the prototype: values has n elements from -1000 to 1000, n"
    assert heard[0].text.startswith(said)
    assert answer(task, sandbox, WEIGH, encode((b"\x05\x00\x00\x00", 1)))[3] == 107  # type: ignore[index]
    assert isinstance(object_file(sandbox, find_interpreter(), task, WEIGH), Assembled)


def test_a_function_with_a_stated_contract_takes_it(project: Path) -> None:
    toml = '[task]\nlanguage = "c"\ntarget = "weigh.c"\nsymbol = "weigh"\n[signature]\nprototype = "{}"\n{}'
    table = 'n = {role = "size", max = 9}\n[workload]\nsizes = [3, 7]\n[build]\nsources = ["more.c"]\n'
    prototype = "long weigh(const int *values, long n)"
    write(project, {"src/weigh.c": WEIGH, "src/whet.toml": toml.format(prototype, table), "src/more.c": "int more;\n"})
    task = read_task(f"{project}/src/weigh.c::weigh", Options())

    assert task.signature is not None
    assert (task.signature.arguments[1].high, task.workload.sizes) == (9, (3, 7))
    assert "src/more.c" in task.support
    (project / "src/more.c").unlink()
    with pytest.raises(UsageError, match=r"sources names more.c, which is not there"):
        read_task(f"{project}/src/weigh.c::weigh", Options())


def test_a_project_with_a_makefile_is_built_by_it(project: Path, sandbox: Sandbox) -> None:
    write(project, {"Makefile": MAKEFILE})
    heard: list[Event] = []
    task = read_task(f"{project}/src/deep.c", Options(workload=project / "cases"), heard.append)

    assert heard[0].text == f"built in {project} by make -s; run by ./app"
    assert not [path for path in task.support if path.startswith("cases")]
    assert answer(task, sandbox, DEEP, b"4\n")[1] == b"108\n"  # type: ignore[index]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("makefile", "error", "said"),
    [
        ("all:\n\ttrue\n", UsageError, "makes no program; say how the one that is meant runs"),
        (MAKEFILE + "\tcp app second\n", UsageError, r"makes app, second; .*\[run\] command = \"./PROGRAM\""),
        ("all:\n\techo lost >&2; exit 1\n", BaselineError, "make -s in .* fails: .*lost"),
    ],
)
def test_a_build_that_does_not_say_what_to_run_is_refused_with_a_mend(
    project: Path, makefile: str, error: type[Exception], said: str
) -> None:
    write(project, {"Makefile": makefile})
    with pytest.raises(error, match=f"(?s){said}"):
        read_task(f"{project}/src/deep.c", Options(workload=project / "cases"))


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_a_cmake_project_is_built_by_cmake(project: Path) -> None:
    lists = "cmake_minimum_required(VERSION 3.10)\nproject(app C)\ninclude_directories(include)\n"
    write(project, {"CMakeLists.txt": f"{lists}add_executable(app src/main.c src/deep.c src/near.c)\n"})
    task = read_task(f"{project}/src/deep.c", Options(workload=project / "cases"))

    assert task.commands is not None
    assert (task.commands.build, task.commands.run) == (CMAKE, "./whet-build/app")


@pytest.mark.parametrize(
    ("files", "target", "said"),
    [
        ({"a.c": "int f(void) { return 1; }\n"}, "a.c", "defines no main, and no source beside it .* give a Makefile"),
        ({"a.c": "int f(void) { return 1; }\n"}, "a.c", "to name a function of it, write a.c::f$"),
        ({"a.c": "int some;\n"}, "a.c", "the function that is meant$"),
        ({"a.c": '#include "lost.h"\nint main(void) {}\n'}, "a.c", "includes lost.h, which is not in"),
        ({"a.c": "static int f(int n) { return n; }\n"}, "a.c::f", "f is static, .* state its contract in .*whet.toml"),
        ({"a.c": "int f(int n) { return n; }\n"}, "a.c::g", "defines no g; it defines f"),
        ({"a.cpp": "int f(int n) { return n; }\n"}, "a.cpp::f", 'f is not extern "C"'),
        ({"a.c": "int f(struct s *p) { return 1; }\n"}, "a.c::f", r"takes 'struct s \*p', which is no number"),
        ({"a.c": "int f(int *a, int *b) { return 1; }\n"}, "a.c::f", "does not tell how long its buffers are"),
    ],
)
def test_what_cannot_be_built_says_how_to_mend_it(
    tmp_path: Path, files: dict[str, str], target: str, said: str
) -> None:
    write(tmp_path, files)
    with pytest.raises(UsageError, match=said):
        read_task(f"{tmp_path}/{target}", Options())


def test_no_link_leads_out_of_the_project(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.h").write_text("#define KEY 1\n")
    (project / "include/linked.h").symlink_to(tmp_path / "secret.h")
    found = native_tree(project / "src/main.c", '#include "linked.h"\n#include "../../secret.h"\n', program=False)

    assert (found.texts, found.missing) == ({}, ("linked.h", "../../secret.h"))


def test_contracts_are_read_from_definitions() -> None:
    text = 'extern "C" {\ndouble dot(const double *a, const double *b, size_t count) /* x */ {\n  if (a) { }\n}\n}\n'
    file = contract_of(text, "dot", "cpp", "dot.cpp")

    assert definitions(text) == ["dot"]
    assert file.signature is not None
    assert file.signature.prototype == "double dot(const double *a, const double *b, size_t count)"
    assert file.signature.__pydantic_extra__["count"].role == "size"
    with pytest.raises(NoContractError, match="static"):
        contract_of("static inline int f(int n) {\n", "f", "c", "f.c")


def test_definitions_are_found_among_many_long_names() -> None:
    """A search that takes words apart would not end."""
    variables = "".join(f"static const unsigned long int a_variable_of_the_file_{i} = {i};\n" for i in range(200))
    functions = (
        'int f(int a) { return a; }\nextern "C" double *g (const double *x, int n) {\n}\nstruct pair *h(void){}\n'
    )
    assert definitions(variables + functions) == ["f", "g", "h"]
