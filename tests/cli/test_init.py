"""``whet init``: a repository's configuration, written once."""

from __future__ import annotations

import shlex
import tomllib

import pytest
from repositories import repository

from whet.core.config import load_project_config

PROJECT = '[project]\nname = "shop"\nversion = "1"\n'
TEST = "def test_one():\n    assert True\n"


def test_it_writes_what_it_finds_into_pyproject(tmp_path, whet):
    root = repository(tmp_path / "shop", {"pyproject.toml": PROJECT, "tests/test_shop.py": TEST})
    done = whet("init", cwd=root)
    assert done.returncode == 0, done.stderr
    text = (root / "pyproject.toml").read_text()
    assert text.startswith(PROJECT)
    assert tomllib.loads(text)["tool"]["whet"]["tests"] == "python -m pytest -q tests"
    assert load_project_config(root).run == "python -m pytest -q tests"
    assert "next: whet optimize ." in done.stdout


@pytest.mark.corpus(one_in=8)
def test_a_folder_within_the_repository_stands_for_it(tmp_path, whet):
    root = repository(tmp_path / "shop", {"Makefile": "test: app.c\n\ttrue\n", "app.c": "", "deep/down.txt": ""})
    assert whet("init", root / "deep").returncode == 0
    config = load_project_config(root)
    assert (config.tests, config.build) == ("make test", "make")
    assert not (root / "deep" / "whet.toml").exists()


def test_what_was_not_found_is_a_comment(tmp_path, whet):
    root = repository(tmp_path / "shop", {"shop.py": "x = 1\n"})
    done = whet("init", root)
    assert done.returncode == 0
    assert "note: no tests were found" in done.stdout
    assert '# tests = "a command"' in (root / "whet.toml").read_text()
    assert load_project_config(root).tests is None


def test_commands_with_quotes_are_read_back(tmp_path, whet):
    benchmark = "def test_one(benchmark):\n    benchmark(sum, [1])\n"
    root = repository(tmp_path / "shop", {"pyproject.toml": PROJECT, 'tests/odd "\U0001f600"/test_shop.py': benchmark})
    assert whet("init", root).returncode == 0
    assert shlex.split(load_project_config(root).run)[-1] == 'tests/odd "\U0001f600"/test_shop.py'


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"pyproject.toml": "[tool.whet]\n"}, "has [tool.whet] already"),
        ({"pyproject.toml": PROJECT, "whet.toml": "[tool.whet]\ntop = 1\n"}, "has [tool.whet] already"),
        ({"whet.toml": '[task]\nlanguage = "python"\ntarget = "a.py"\n'}, "describes a task"),
        ({"pyproject.toml": "not toml"}, "is not valid TOML"),
        ({"pyproject.toml": "tool = {other = {}}\n"}, "write it by hand"),
    ],
)
def test_nothing_that_stands_there_is_changed(tmp_path, whet, files, told):
    root = repository(tmp_path / "shop", files)
    done = whet("init", root)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert told in done.stderr
    assert {name: (root / name).read_text() for name in files} == files
    assert sorted(path.name for path in root.iterdir()) == sorted([".git", *files])


def test_a_folder_that_is_not_there(tmp_path, whet):
    done = whet("init", tmp_path / "missing")
    assert done.returncode == 2
    assert "no folder" in done.stderr


def test_the_workflows_of_the_bot_are_written_beside_any_configuration(tmp_path, whet):
    root = repository(tmp_path / "shop", {"pyproject.toml": "[tool.whet]\n"})
    assert whet("init", "--github", root).returncode == 0
    workflows = root / ".github" / "workflows"
    assert sorted(path.name for path in workflows.iterdir()) == ["whet-post.yml", "whet.yml"]
    (workflows / "whet.yml").write_text("mine\n")
    done = whet("init", "--github", root)
    assert done.returncode == 2
    assert "is there already" in done.stderr
    assert (workflows / "whet.yml").read_text() == "mine\n"
    assert (root / "pyproject.toml").read_text() == "[tool.whet]\n"
