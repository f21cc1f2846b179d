"""Evidence repeated: what agrees, what differs, what could not be compared, and who signed it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bundles import GOOD, WRONG, as_timed, changed, exported, project, written  # noqa: F401

import whet as library
from whet.agents.optimize import replay
from whet.core.candidate import Candidate, content_id
from whet.core.errors import BaselineError, UsageError
from whet.core.evidence import Comparison, Replication
from whet.core.store import Store
from whet.evaluators.evidence.bundle import Bundle, Contradiction, read_bundle
from whet.evaluators.evidence.consistency import contradictions
from whet.evaluators.evidence.record import bundle_of
from whet.evaluators.evidence.signing import authorship, sign
from whet.sandbox.counters import rapl

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")

PROGRAM = """\
#include <iostream>
int main() {
    long count = 0, sum = 0;
    std::cin >> count;
    for (long i = 0; i < count * 40000000; ++i) sum += i % 7;
    std::cout << sum << std::endl;
}
"""


@pytest.fixture(scope="module")
def checked(project: Path) -> Bundle:  # noqa: F811
    return exported(project, "good.py", seed=7)


def repeated(bundle: Bundle, folder: Path, **options: Any) -> Replication:
    options = {"until": "differential", "sandbox": "bubblewrap", "home": folder / "home", **options}
    return library.verify(evidence=written(bundle, folder / "a.zip"), **options)


def rows(found: Replication) -> dict[str, Comparison]:
    return {row.name: row for row in found.compared}


def with_candidate(bundle: Bundle, source: str) -> Bundle:
    """Somebody's evidence about another text, with every hash made anew."""
    baseline = bundle.texts["baseline/slow.py"].decode()
    swapped = replace(bundle, texts={**bundle.texts, "candidate/slow.py": source.encode()})

    def change(document: dict[str, Any]) -> None:
        document["code"]["candidate/slow.py"] = content_id(source)
        document["candidate"].update(id=content_id(source), diff=Candidate(source).diff(baseline, "slow.py"))

    return changed(swapped, change)


@pytest.mark.corpus(one_in=8)
def test_a_right_rewrite_is_right_again(checked, tmp_path) -> None:
    found = repeated(checked, tmp_path)
    assert found.agrees
    assert found.exit_code == 0
    compared = rows(found)
    assert compared["differential"].agrees is True
    assert compared["differential inputs"].agrees is True
    assert compared["differential on those"].here == "right"
    conditions = compared["differential conditions"]
    assert (conditions.agrees, conditions.recorded) == (True, "items: hashable")
    assert found.candidate == content_id(GOOD)
    told = {row.name: (row.recorded, row.here) for row in found.surroundings}
    assert told["interpreter"][0] == told["interpreter"][1]
    assert found.to_json()["schema"] == "whet.replication/1"


@pytest.mark.corpus
def test_a_wrong_rewrite_is_wrong_again_for_the_same_reason(project, tmp_path) -> None:  # noqa: F811
    found = repeated(exported(project, "wrong.py"), tmp_path)
    assert found.agrees
    compared = rows(found)
    assert (compared["verdict"].recorded, compared["verdict"].here) == ("rejected", "rejected")
    assert compared["differential"].here.startswith("failed: wrong_output")
    assert compared["differential on those"].here == "wrong"


@pytest.mark.corpus(one_in=8)
def test_evidence_that_was_made_up_does_not_agree(checked, tmp_path) -> None:
    """It contradicts nothing, and the code says otherwise."""
    bundle = with_candidate(checked, WRONG)
    assert contradictions(bundle) == []
    found = repeated(bundle, tmp_path)
    assert found.exit_code == 3
    compared = rows(found)
    assert compared["verdict"].agrees is False
    assert compared["differential"].agrees is False
    assert compared["differential on those"].agrees is False


@pytest.mark.corpus
def test_other_inputs_than_the_recorded_ones_show(checked, tmp_path) -> None:
    text = checked.texts["workload/workload.py"].replace(b"2 * size", b"3 * size")
    bundle = replace(checked, texts={**checked.texts, "workload/workload.py": text})
    bundle = changed(bundle, lambda d: d["code"].update({"workload/workload.py": content_id(text.decode())}))
    found = repeated(bundle, tmp_path)
    assert found.exit_code == 3
    assert rows(found)["differential inputs"].agrees is False


@pytest.mark.corpus(one_in=8)
def test_what_was_timed_there_and_not_here_is_said(checked, tmp_path) -> None:
    found = repeated(as_timed(checked, 10.0), tmp_path, until="build")
    compared = rows(found)
    assert compared["verdict"].agrees is None
    assert compared["ratio"].agrees is None
    assert compared["measure"].note == "--until build"
    assert found.exit_code == 0


@pytest.mark.skipif(not rapl.lacking(), reason="this machine measures energy")
@pytest.mark.corpus(one_in=8)
def test_a_metric_that_cannot_be_had_here_is_said(checked, tmp_path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["settings"].update(metric="energy")

    found = repeated(changed(checked, change), tmp_path, until="build")
    assert found.agrees
    assert "--metric energy cannot be measured" in rows(found)["verdict"].note


@pytest.mark.corpus
def test_more_cores_than_there_are_is_said(checked, tmp_path) -> None:
    many = len(os.sched_getaffinity(0)) + 1

    def change(document: dict[str, Any]) -> None:
        document["settings"].update(cores=many)
        for rung in document["rungs"]:
            for measured in rung["evidence"].get("measurements", []):
                for turn in measured["raw"]["turns"]:
                    turn["cores"] = list(range(many))

    found = repeated(changed(as_timed(checked, 10.0), change), tmp_path, until=None)
    assert found.agrees
    compared = rows(found)
    assert compared["ratio"].agrees is None
    for name in ("verdict", "measure", "ratio"):
        assert f"{many} cores" in compared[name].note


@pytest.mark.corpus
def test_tests_travel_and_run_again(project, tmp_path) -> None:  # noqa: F811
    bundle = exported(project, "good.py", tests="pytest -q test_slow.py")
    assert bundle.record.provenance.test_target == "slow.py"
    compared = rows(repeated(bundle, tmp_path, until="test"))
    assert (compared["test"].recorded, compared["test"].here) == ("passed", "passed")
    incomplete = changed(bundle, lambda d: d["provenance"].update(tests_left_out=2))
    compared = rows(repeated(incomplete, tmp_path, until="test"))
    assert compared["test"].agrees is None
    assert "2 files" in compared["test"].note


@pytest.mark.corpus
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_a_program_with_recorded_cases(tmp_path) -> None:
    (tmp_path / "sum.cpp").write_text(PROGRAM)
    (tmp_path / "better.cpp").write_text(PROGRAM.replace("std::endl", "'\\n'"))
    (tmp_path / "cases").mkdir()
    for name, count in (("one", 1), ("two", 2)):
        (tmp_path / "cases" / f"{name}.in").write_text(f"{count}\n")
    bundle = exported(tmp_path, "better.cpp", "sum.cpp")
    assert {"cases/one.in", "cases/two.in"} <= bundle.texts.keys()
    toolchain = bundle.record.provenance.toolchain
    assert "g++" in (toolchain.compiler or "")
    assert toolchain.flags[0] == "-O3"
    found = repeated(read_bundle(written(bundle, tmp_path / "b.zip")), tmp_path)
    assert found.agrees
    assert rows(found)["differential"].agrees is True


def test_a_baseline_that_cannot_be_used_here_is_said(checked, tmp_path) -> None:
    source = "def unique(items):\n    return id(items)\n"
    bundle = replace(checked, texts={**checked.texts, "baseline/slow.py": source.encode()})

    def change(document: dict[str, Any]) -> None:
        document["code"]["baseline/slow.py"] = content_id(source)
        document["candidate"].update(parent=content_id(source), diff=Candidate(GOOD).diff(source, "slow.py"))

    with pytest.raises(BaselineError, match="cannot be used here"):
        repeated(changed(bundle, change), tmp_path)


@pytest.mark.parametrize(
    "options", [{"metric": "memory"}, {"confidence": 0.9}, {"tests": "pytest"}, {"candidate": "x.py"}, {"target": "x"}]
)
def test_evidence_brings_its_own_settings(options, checked, tmp_path) -> None:
    with pytest.raises(UsageError, match="leave"):
        repeated(checked, tmp_path, **options)


# On the command line


@pytest.fixture
def run(whet, project) -> str:  # noqa: F811
    words = ("--candidate", project / "good.py", "--until", "build", "--sandbox", "bubblewrap", "--json")
    done = whet("verify", f"{project}/slow.py::unique", *words)
    assert done.returncode == 3, done.stderr
    name: str = json.loads(done.stdout)["run"]
    return name


@pytest.mark.corpus
def test_export_and_repeat_on_the_command_line(whet, run, tmp_path) -> None:
    bundle = tmp_path / "a.zip"
    done = whet("runs", "export", run, "--evidence", bundle)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = whet("verify", "--evidence", bundle, "--sandbox", "bubblewrap")
    assert done.returncode == 0, done.stderr
    assert "all that was compared agrees" in done.stdout
    assert "not signed" in done.stdout
    damaged = bytearray(bundle.read_bytes())
    place = damaged.index(b'"status": "no_improvement"')
    damaged[place + 12 : place + 14] = b"xx"
    bundle.write_bytes(damaged)
    done = whet("verify", "--evidence", bundle)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


@pytest.mark.corpus
def test_errors_of_export_are_one_line(whet, run, tmp_path) -> None:
    for words, said in (
        ((run, "--evidence", tmp_path / "no" / "a.zip"), "cannot be written"),
        ((run, "--evidence", tmp_path / "a.zip", "-o", tmp_path / "b"), "one of them"),
        ((run, "--sign", tmp_path / "key"), "goes with --evidence"),
        ((run, "--evidence", tmp_path / "a.zip", "--sign", tmp_path / "key"), "no such file"),
        (("nothing", "--evidence", tmp_path / "a.zip"), "no run"),
    ):
        done = whet("runs", "export", *words)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    done = whet("verify", "--signers", tmp_path / "signers")
    assert done.returncode == 2


# Signatures


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name, passphrase in (("alice", ""), ("mallory", ""), ("locked", "secret")):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", folder / name]
        subprocess.run(command, check=True)
    (folder / "signers").write_text(
        f'alice@example.org namespaces="whet-evidence" {(folder / "alice.pub").read_text()}'
    )
    (folder / "others").write_text(f'alice@example.org namespaces="git" {(folder / "alice.pub").read_text()}')
    return folder


@pytest.fixture
def signed(checked, keys) -> Bundle:
    return replace(checked, signature=sign(checked.manifest, keys / "alice"))


@ssh
@pytest.mark.corpus(one_in=8)
def test_a_signature_names_its_author(signed, keys, tmp_path) -> None:
    bundle = read_bundle(written(signed, tmp_path / "a.zip"))
    assert authorship(bundle, keys / "signers").note == "signed by alice@example.org"
    assert authorship(bundle, None).note.startswith("signed with the key ED25519 SHA256:")
    found = repeated(bundle, tmp_path, until="build", signers=keys / "signers")
    assert found.authorship == "signed by alice@example.org"
    assert rows(found)["author"].agrees is True


@ssh
def test_ssh_keygen_itself_checks_it(signed, keys, tmp_path) -> None:
    shutil.unpack_archive(written(signed, tmp_path / "a.zip"), tmp_path / "out")
    command = ["ssh-keygen", "-Y", "verify", "-f", keys / "signers", "-I", "alice@example.org", "-n", "whet-evidence"]
    manifest = (tmp_path / "out" / "sha256sums.txt").read_bytes()
    done = subprocess.run([*command, "-s", tmp_path / "out" / "sha256sums.txt.sig"], input=manifest, check=False)
    assert done.returncode == 0


@ssh
def test_who_is_no_allowed_signer_is_nobody(checked, signed, keys, tmp_path) -> None:
    by_mallory = replace(checked, signature=sign(checked.manifest, keys / "mallory"))
    assert authorship(by_mallory, keys / "signers").note == "signed, by nobody in signers"
    assert authorship(signed, keys / "others").note == "signed, by nobody in others"  # for another namespace
    assert authorship(checked, keys / "signers").note == "not signed"
    found = repeated(by_mallory, tmp_path, until="build", signers=keys / "signers")
    assert found.exit_code == 3
    assert rows(found)["author"].agrees is False


@ssh
def test_a_signature_of_something_else_is_a_contradiction(checked, keys, tmp_path) -> None:
    for signature in (sign(b"another manifest", keys / "alice"), b"no signature at all"):
        with pytest.raises(Contradiction, match="not of its manifest"):
            repeated(replace(checked, signature=signature), tmp_path)


@pytest.mark.corpus
@ssh
def test_a_key_that_asks_for_a_passphrase_is_refused(whet, run, keys, tmp_path) -> None:
    done = whet("runs", "export", run, "--evidence", tmp_path / "a.zip", "--sign", keys / "locked")
    assert done.returncode == 2
    assert "passphrase" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "a.zip").exists()


@pytest.mark.corpus
def test_without_ssh_keygen_the_line_says_so(whet, run, keys, tmp_path) -> None:
    words = ("runs", "export", run, "--evidence", tmp_path / "a.zip", "--sign", keys / "alice")
    done = whet(*words, PATH=str(tmp_path))
    assert done.returncode == 2
    assert "ssh-keygen" in done.stderr


# The main job


@pytest.mark.corpus
@pytest.mark.usefixtures("figures_at_usual_looks")
def test_the_winner_of_optimize_and_its_replay_have_evidence(project, tmp_path) -> None:  # noqa: F811
    home = tmp_path / "home"
    result = library.optimize(f"{project}/slow.py::unique", rounds=1, candidates=1, home=home, sandbox="bubblewrap")
    assert result.candidate is not None, result.message
    again = replay(result.run, home=home)
    store = Store(home)
    bundle, replayed = (bundle_of(store, one.run) for one in (result, again))
    store.close()
    assert replace(replayed.record, run=bundle.record.run) == bundle.record
    assert bundle.record.command == "optimize"
    assert contradictions(bundle) == []
    found = repeated(bundle, tmp_path, until=None)
    compared = rows(found)
    assert compared["verdict"].agrees is True, found.result.message
    assert compared["ratio"].agrees is not None
    assert compared["confirm passes"].agrees is True
