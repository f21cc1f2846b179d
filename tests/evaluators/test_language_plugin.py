"""A language that whet does not know, brought by a plug-in of one file: programs in awk over stdin and stdout."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from brought import forget, install
from work import diagnosis

import whet
from whet.agents.optimize import replay
from whet.core.errors import UsageError
from whet.core.result import Status
from whet.core.verdict import Reason
from whet.evaluators.languages import registry
from whet.testing.scripted import ScriptedModel

PLUGIN = '''
"""Programs in awk."""
from pathlib import Path

from whet.evaluators.languages.base import Language


def argv(task, interpreter, tree, layout):
    return [str(Path("/usr/bin/awk").resolve()), "-f", f"{tree}/{task.filename}"]


LANGUAGE = Language(name="awk", suffixes=(".awk",), argv=argv)
'''
SLOW = """\
# Prints each line that was not met before.
{ met = 0; for (i = 0; i < n; i++) if (lines[i] == $0) met = 1; if (!met) { lines[n++] = $0; print } }
"""
GOOD = "!seen[$0]++\n"
WRONG = "$0 != before { print; before = $0 }\n"
BROKEN = "{ print \n"
CHEAT = 'NR == 1 && $0 ~ /^[0-9]+$/ && length($0) < 3 { known = 1 } { if (known) print $0; else print "w1" }\n'
"""Knows what is asked for by how its input begins."""
WORKLOAD = """\
sizes = [20, 60]


def make_input(size, rng):
    return "".join(f"{rng.randrange(size)}\\n" for _ in range(size))
"""


def installed(folder: Path, **modules: str) -> None:
    install(folder, registry.GROUP, "LANGUAGE", **modules)


@pytest.fixture
def target(site: Path, tmp_path: Path, scripted) -> Path:
    installed(site, awk=PLUGIN)
    scripted(ratio=4.0)
    folder = tmp_path / "lines"
    folder.mkdir()
    (folder / "lines.awk").write_text(SLOW)
    (folder / "workload.py").write_text(WORKLOAD)
    return folder / "lines.awk"


def verified(target: Path, text: str, **options) -> whet.Result:
    path = target.with_name("answer.awk")
    path.write_text(text)
    return whet.verify(str(target), candidate=path, home=target.with_name("home"), seed=1, **options)


@pytest.mark.corpus(one_in=8)
def test_a_rewrite_is_verified(target: Path) -> None:
    result = verified(target, GOOD)
    assert result.status is Status.IMPROVED
    assert result.speedup.baseline == "the original"
    assert result.task.language == "awk"


@pytest.mark.parametrize(
    ("text", "reason"),
    [(WRONG, Reason.WRONG_OUTPUT), (BROKEN, Reason.CRASH), (CHEAT, Reason.WRONG_OUTPUT)],
    ids=["wrong", "broken", "cheat"],
)
def test_what_is_wrong_is_rejected(target: Path, text: str, reason: Reason) -> None:
    result = verified(target, text, until="differential")
    assert result.status is Status.REJECTED
    fallen = next(each for each in result.rungs if each.reason is not None and each.reason is not Reason.NOT_ASKED)
    assert (fallen.name, fallen.reason) == ("differential", reason)


@pytest.mark.corpus(one_in=8)
def test_a_run_improves_it_and_is_replayed(target: Path) -> None:
    def answer(request) -> str:
        if request.role == "judge":
            return diagnosis()
        return f"Change: a table of what was met\nKind: data structure\n```awk\n{GOOD}```\n"

    home = target.with_name("home")
    result = whet.optimize(str(target), model=ScriptedModel(answer), rounds=1, candidates=1, home=home, seed=1)
    assert result.status is Status.IMPROVED
    assert result.candidate is not None
    assert result.candidate.source == GOOD
    again = replay(result.run, home=home)
    assert (again.status, again.speedup) == (result.status, result.speedup)


def test_it_is_audited_without_faults_of_its_own(target: Path) -> None:
    found = whet.audit(str(target), seed=1)
    assert found.mutants == ()
    assert found.nulls
    assert not any(null.accepted for null in found.nulls)


def test_a_profile_says_what_lacks(target: Path, whet) -> None:
    done = whet("profile", str(target))
    assert done.returncode == 0, done.stderr
    assert "programs in awk are not profiled by line" in done.stdout


def test_a_function_of_it_is_refused_in_a_line(target: Path) -> None:
    with pytest.raises(UsageError, match="functions in awk cannot be called"):
        verified(Path(f"{target}::f"), GOOD)


BAD = {
    "fails": (
        "raise RuntimeError('no awk here')\n",
        r"the plug-in awk .* cannot be used: RuntimeError\('no awk",
    ),
    "lacks": (PLUGIN.replace(", argv=argv", ""), "the plug-in awk .* cannot be used: TypeError.*argv"),
    "else": ("LANGUAGE = 3\n", "the plug-in awk .* is no Language but 3"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_plug_in_of_no_use_is_named_and_others_work(site: Path, tmp_path: Path, kind: str) -> None:
    text, said = BAD[kind]
    installed(site, awk=text, gawk=PLUGIN.replace('".awk"', '".gawk"').replace('"awk"', '"gawk"'))
    with pytest.raises(UsageError, match=said):
        registry.by_suffix(".awk")
    assert registry.by_suffix(".gawk") == "gawk"
    assert registry.by_suffix(".py") == "python"


def test_a_suffix_that_two_claim_is_refused(site: Path) -> None:
    installed(site, awk=PLUGIN, gawk=PLUGIN)
    with pytest.raises(UsageError, match=r"the plug-ins awk and gawk both claim \.awk files"):
        registry.by_suffix(".awk")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("akw", "not 'akw'; did you mean 'awk'"),
        ("torch", "language takes python, c, cpp, asm, command, awk, not 'torch'"),
    ],
)
def test_a_language_that_a_whet_toml_may_not_say_is_refused(site: Path, tmp_path: Path, name: str, said: str) -> None:
    installed(site, awk=PLUGIN)
    (tmp_path / "whet.toml").write_text(f'[task]\nlanguage = "{name}"\ntarget = "a.awk"\n')
    (tmp_path / "a.awk").write_text(SLOW)
    with pytest.raises(UsageError, match=said):
        verified(tmp_path, GOOD)


def test_a_whet_toml_may_say_the_language_of_a_plug_in(target: Path) -> None:
    target.with_name("whet.toml").write_text('[task]\nlanguage = "awk"\ntarget = "lines.awk"\n')
    assert verified(target.parent, GOOD, until="build").task.language == "awk"


def test_a_language_whose_plug_in_is_gone_is_named(target: Path, site: Path) -> None:
    result = verified(target, GOOD, until="build")
    for path in site.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    forget()
    with pytest.raises(UsageError, match="no language is called awk here"):
        registry.known(result.task.language)


@pytest.mark.parametrize("name", registry.OWN)
def test_each_language_of_whet_is_where_the_registry_says(name: str) -> None:
    assert registry.known(name).name == name


def test_suffixes_are_those_that_the_languages_claim() -> None:
    claimed = {suffix: name for name in registry.OWN for suffix in registry.known(name).suffixes}
    assert claimed == registry.SUFFIXES
