"""Every example of the manual: commands and code are carried out, files and documents are read."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from documents import assert_alike, whole_documents
from pages import PAGES, ROOT, Block, Missing, Reader, blocks, parse

from whet.core.config import ProjectConfig
from whet.core.options import METRIC_GROUP
from whet.evaluators import extra_rungs
from whet.evaluators.languages import registry as languages
from whet.evaluators.signature import read_signature
from whet.evaluators.task_file import TaskFile

EVERY = [block for page in PAGES for block in blocks(page)]
FOLLOWED = {"sh", "console", "python"}
READ = {"toml", "json"}
SHOWN = {"text"}
"""What programs print: nothing to carry out."""
SOURCES = {"c", "cpp"}
"""Of no use but as a file."""
OTHER_NAMES = {"whet.db", "whet.toml", "whet.toolchain", "whet.languages", "whet.metrics", "whet.rungs"}
"""Files, a label of images, and groups of entry points."""
MOST_NOT_RUN = 23


def names(given) -> list[str]:
    return [block.place for block in given]


def pages_with(languages) -> list[Path]:
    return [
        page
        for page in PAGES
        if any(block.is_followed and (block.title or block.language in languages) for block in blocks(page))
    ]


@pytest.fixture
def reader(tmp_path):
    return Reader(tmp_path)


# what there is


def test_each_block_is_run_or_says_why_not(capsys):
    known = FOLLOWED | READ | SHOWN
    assert names(block for block in EVERY if not (block.title or block.reason or block.language in known)) == []
    excused = [block for block in EVERY if block.reason]
    with capsys.disabled():
        print(f"\nnot run: {len(excused)} of {len(EVERY)} blocks of the manual")
        print(*(f"  {block.place}: {block.reason}" for block in excused), sep="\n")
    assert len(excused) <= MOST_NOT_RUN


def test_what_another_page_says_stands_there():
    for block in EVERY:
        if block.twin:
            there = {line for twin in blocks(ROOT / block.twin) if twin.is_followed for line in commands(twin)}
            assert set(commands(block)) <= there, block.place


def commands(block: Block) -> list[str]:
    """Returns the lines of a block without the comments behind them."""
    return [re.sub(r"\s+# .*", "", line) for line in block.script.splitlines()]


def test_names_of_files_and_of_code_are_those_that_there_are():
    for page in PAGES:
        prose = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for name in re.findall(r"`((?:whet|tests|docs)/[\w./-]*\.\w+|(?:whet|tests|docs)/[\w./-]*/)`", prose):
            assert (ROOT / name).exists(), f"{page.name} names {name}"
        for name in re.findall(r"`(whet(?:\.\w+)+)`", prose):
            assert name in OTHER_NAMES or found(name), f"{page.name} names {name}"


def found(name: str) -> bool:
    """Whether there is a module, or something in one, of this name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


def test_links_of_the_first_page_lead_somewhere():
    page = ROOT / "README.md"
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
        path = ROOT / target
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), f"{target}#{anchor}"


def anchors(path: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.corpus
def test_the_site_is_built_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


# what is carried out


@pytest.mark.corpus
@pytest.mark.parametrize("page", pages_with(FOLLOWED), ids=lambda page: page.stem)
def test_a_page_can_be_followed(page, reader):
    for block in blocks(page):
        if block.is_followed:
            try:
                reader.follow(block)
            except Missing as error:
                pytest.skip(f"{block.place}: {error} is not installed")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sh", "false\ntrue\n"),
        ("console", "$ for n in 1 2; do\n>     test $n = 2\n> done\n2\n"),
        ("sh", "whet runs show no-such-run\n"),
        ("python", "raise SystemExit(1)\n"),
    ],
)
def test_what_fails_is_noticed(reader, language, text):
    with pytest.raises(AssertionError, match=r"a-page\.md:7"):
        reader.follow(Block("a-page.md", 7, language, None, text))


@pytest.mark.corpus
def test_a_wrong_rewrite_is_no_busy_machine(reader):
    judged = "whet verify slow.py::common --candidate wrong.py --workload workload.py --until differential\n"
    reader.follow(Block("a-page.md", 1, "python", "wrong.py", "def common(left, right):\n    return left\n"))
    with pytest.raises(AssertionError, match="exit code 3 of: whet verify"):
        reader.follow(Block("a-page.md", 5, "sh", None, judged))


def test_what_is_missing_is_said(reader):
    with pytest.raises(Missing, match="no-such-program"):
        reader.follow(Block("a-page.md", 1, "sh", None, "no-such-program --version\n"))
    (reader.folder / "torch.py").write_text("import triton.of_no_machine")
    with pytest.raises(Missing, match="triton"):
        reader.follow(Block("a-page.md", 1, "python", None, "import torch\n"))


def test_blocks_are_read_with_what_is_said_of_them():
    lines = """
    ```python title="a.py"
    x = 1
    ```
    <!-- not run: it needs a key -->

    ```sh
    whet
    ```

    ````text
    ```
    ````
    """
    one, two, three = parse("page.md", textwrap.dedent(lines).splitlines())
    assert (one.title, one.text, one.line, one.is_followed) == ("a.py", "x = 1\n", 2, True)
    assert (two.language, two.reason, two.is_followed) == ("sh", "it needs a key", False)
    assert (three.text, three.reason) == ("```\n", None)


def test_a_file_grows_by_what_its_page_adds(reader):
    for text in ("a = 1\n", "b = 2\n"):
        reader.follow(Block("page.md", 1, "python", "slow.py", text))
    assert (reader.folder / "slow.py").read_text() == "a = 1\n\n\nb = 2\n"


# what is read


@pytest.mark.parametrize("block", [b for b in EVERY if b.language == "toml"], ids=lambda block: block.place)
def test_settings_are_as_the_readers_want_them(block: Block):
    table = tomllib.loads(block.text)
    if "task" in table:
        file = TaskFile.model_validate(table)
        if file.signature is not None:
            assert read_signature(file.signature, file.task.symbol, block.place)
    elif "project" in table:
        groups = table["project"]["entry-points"]
        assert groups.keys() <= {languages.GROUP, METRIC_GROUP, extra_rungs.GROUP}
        brought = {where.partition(":")[0] for names in groups.values() for where in names.values()}
        assert {f"{module}.py" for module in brought} <= {other.title for other in EVERY if other.page == block.page}
    else:
        assert ProjectConfig.model_validate(table["tool"]["whet"]) != ProjectConfig()


@pytest.mark.corpus
def test_documents_are_those_that_programs_get(reader):
    real = whole_documents()
    for block in EVERY:
        if block.language != "json" or not block.is_followed:
            continue
        shown = json.loads(block.text)
        if "schema" in shown:
            of = real[shown["schema"]]
        else:
            words = ["list"] if isinstance(shown, list) else ["show", reader.newest("optimize")]
            reader.newest("optimize")
            of = json.loads(reader.run(["whet", "runs", *words, "--json"]).stdout)
        assert_alike(shown, of, block.place)
