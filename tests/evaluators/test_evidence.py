"""The evidence of a verdict: what is in a bundle, what is not, what of it contradicts itself, and who signed it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bundles import GOOD, SLOW, WORKLOAD, WRONG, as_timed, changed, exported, project, written  # noqa: F401
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import whet as library
from whet.core.candidate import content_id
from whet.core.errors import UsageError, WhetError
from whet.core.plain import to_plain
from whet.evaluators.evidence.bundle import MANIFEST, RECORD, Bundle, Contradiction, listed, read_bundle, write_bundle
from whet.evaluators.evidence.consistency import contradictions
from whet.evaluators.timing.hidden_costs import HiddenCosts, assess
from whet.evaluators.timing.process_observation import Observation, ObservedProcess

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

SECRETS = {"WHET_TEST_TOKEN": "tok-5f2b9c", "ANTHROPIC_API_KEY": "key-77aa31", "AWS_SECRET_ACCESS_KEY": "aws-90ffe1"}


@pytest.fixture(scope="module")
def checked(project: Path) -> Bundle:  # noqa: F811
    """Evidence of a right rewrite that was not timed, with the target's own tests, made with secrets all around."""
    before = dict(os.environ)
    os.environ.update(SECRETS)
    try:
        return exported(project, "good.py", tests="pytest -q test_slow.py", seed=5)
    finally:
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture(scope="module")
def timed(checked: Bundle) -> Bundle:
    """The same, with the samples of a rewrite that is ten times as fast: drawn, and judged as real ones are."""
    return as_timed(checked, 10.0)


# What a bundle holds


@pytest.mark.corpus
def test_a_bundle_reads_back_and_agrees_with_itself(checked, timed, tmp_path) -> None:
    for bundle in (checked, timed):
        assert read_bundle(written(bundle, tmp_path / "a.zip")) == bundle
        assert contradictions(bundle) == []


@pytest.mark.corpus(one_in=8)
def test_the_same_evidence_gives_the_same_bytes(timed, tmp_path) -> None:
    first, second = (written(timed, tmp_path / name).read_bytes() for name in ("a.zip", "b.zip"))
    assert first == second


def test_ordinary_tools_open_and_check_it(checked, tmp_path) -> None:
    with zipfile.ZipFile(written(checked, tmp_path / "a.zip")) as archive:
        archive.extractall(tmp_path / "out")
    done = subprocess.run(
        ["sha256sum", "--strict", "-c", MANIFEST], cwd=tmp_path / "out", capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "baseline" / "slow.py").read_text() == SLOW
    assert (tmp_path / "out" / "candidate" / "slow.py").read_text() == GOOD
    assert (tmp_path / "out" / "workload" / "workload.py").read_text() == WORKLOAD
    assert (tmp_path / "out" / "tests" / "test_slow.py").is_file()


def test_the_record_tells_what_a_third_party_needs(checked) -> None:
    record = checked.record
    facts = record.provenance
    assert facts.machine.cores >= 1
    assert facts.machine.memory > 1 << 20
    assert facts.machine.cpu
    assert facts.toolchain.interpreter.startswith("CPython 3.")
    assert len(facts.toolchain.interpreter_sha256) == 64
    assert facts.sandbox["backend"] == "bubblewrap"
    assert {"whet", "harness", "numpy", "scipy"} <= facts.tools.keys()
    assert facts.seed == 5
    drawn = next(rung for rung in record.rungs if rung.name == "differential").evidence
    assert drawn["inputs"] == len(drawn["hashes"]) >= 3  # each size at least once, however busy the machine
    assert isinstance(drawn["seed"], int)


def test_nothing_tells_whose_it_is_and_no_secret_gets_in(checked, project) -> None:  # noqa: F811
    said = b"\n".join([checked.manifest, *checked.parts.values()]).decode()
    private = [*SECRETS.values(), "hunter2", str(project), str(Path.home()), os.uname().nodename, ".env"]
    assert [text for text in private if text in said] == []


def test_a_home_in_what_tests_say_is_cut_out(project) -> None:  # noqa: F811
    (project / "homely.py").write_text(f"{GOOD}raise RuntimeError('/home/alice/secret and /root/x')\n")
    bundle = exported(project, "homely.py")
    said = json.dumps(to_plain(bundle.record.rungs))
    assert "alice" not in said
    assert "~/secret" in said


# What contradicts itself

FREE = (
    # Told by nothing else in the bundle; for these there are signatures, and the repetition.
    ("schema",), ("run",), ("repeat",), ("settings",), ("provenance",), ("task",), ("candidate", "origin"),
    ("candidate", "labels"), ("command",),
)  # fmt: skip
FREE_OF_RUNGS = ("seconds", "detail", "evidence")


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield from leaves(one, (*path, name))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from leaves(one, (*path, i))
    else:
        yield path


def follows(path: tuple[Any, ...]) -> bool:
    """Whether a field of the record follows from others."""
    if any(path[: len(free)] == free for free in FREE):
        return False
    if path[0] != "rungs":
        return True
    if path[2] in FREE_OF_RUNGS and "measurements" not in path:
        return path[3:4] in (("p_value",), ("outcome",))
    return not {"raw", "seconds", "evidence"} & set(path) or (
        "measurements" in path and "raw" not in path and path[-1] != "baseline"
    )


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value * 1.001 + 1
    return f"{value or ''}x"


@pytest.mark.corpus
def test_any_field_that_follows_from_others_is_found_where_it_was_changed(timed) -> None:
    document = to_plain(timed.record)
    paths = [path for path in leaves(document) if follows(path)]
    assert len(paths) > 80
    for path in paths:

        def change(edited: dict[str, Any], path: tuple[Any, ...] = path) -> None:
            for step in path[:-1]:
                edited = edited[step]
            edited[path[-1]] = other(edited[path[-1]])

        try:
            found = contradictions(changed(timed, change))
        except ValueError:
            continue  # not even the form of evidence
        assert found, path


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.corpus(one_in=8)
def test_any_changed_byte_is_found(timed, tmp_path, data) -> None:
    path = written(timed, tmp_path / "a.zip")
    whole = bytearray(path.read_bytes())
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(whole)
    try:
        read = read_bundle(path)
    except (UsageError, Contradiction):
        return
    assert read == timed  # dates and modes of the archive, which nobody reads


def turns(document: dict[str, Any], rung: str = "confirm") -> list[dict[str, Any]]:
    evidence = next(one for one in document["rungs"] if one["name"] == rung)["evidence"]
    found: list[dict[str, Any]] = evidence["measurements"][0]["raw"]["turns"]
    return found


def slowed(document: dict[str, Any]) -> None:
    for turn in turns(document):
        for sides in turn["passes"].values():
            sides["candidate"].update(inside=0.015, outside=0.0151)


def without_confirm(document: dict[str, Any]) -> None:
    document["rungs"].pop()


def without_reason(document: dict[str, Any]) -> None:
    document["rungs"][3].update(status="failed", reason=None)


def skipped(document: dict[str, Any]) -> None:
    document["rungs"][3].update(status="skipped", reason="not_asked", evidence={})


def peeked(document: dict[str, Any]) -> None:
    for rung in document["rungs"]:
        for measured in rung["evidence"].get("measurements", []):
            measured["raw"]["stages"] = [{"turns": len(measured["raw"]["turns"]), "share": 1.0}] * 2


def with_costs(document: dict[str, Any], **said: float) -> None:
    """Adds hidden costs of half a second a pass, and what is said of them."""
    quiet = ObservedProcess(0.1, 0.004, 0.004, (0.05,) * 6, 0.0, None)
    slow = replace(quiet, loading=0.6)
    found = assess(Observation((quiet,) * 4, (slow,) * 4), 5)
    assert isinstance(found, HiddenCosts)
    assert found.seconds == 0.5
    for rung in document["rungs"]:
        for measured in rung["evidence"].get("measurements", []):
            measured["raw"]["hidden_costs"] = {**found.evidence, **said}


def paced(turn: dict[str, Any], *paces: float) -> None:
    for passes in turn["passes"].values():
        for pace, one in zip(paces, passes.values(), strict=False):
            one["pace"] = pace


EDITS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a dropped sample": (lambda d: turns(d).pop(), "turns are missing"),
    "a sample twice": (lambda d: turns(d).append(turns(d)[0]), "more turns"),
    "slower samples": (slowed, "not as the samples show"),
    "another headline": (lambda d: d["speedup"].update(ratio=12.0), "speedup does not follow"),
    "another status": (lambda d: d.update(status="rejected"), "status is rejected"),
    "a missing rung": (without_confirm, "confirm is missing"),
    "a rung that failed in between": (without_reason, "failed, and others follow"),
    "a rung left out": (skipped, "rungs.differential is skipped"),
    "other looks": (peeked, "not looked at when"),
    "an input fewer": (lambda d: d["rungs"][3]["evidence"]["hashes"].pop(), "inputs have"),
    "a process run anew of an undisturbed turn": (
        lambda d: turns(d)[0].update(left_out=[{"side": "candidate", "share": 0.05, "uneven": 1.2}]),
        "nothing disturbed",
    ),
    "a core that was slower": (lambda d: paced(turns(d)[0], 3e-4, 4e-4), "turns are missing"),
    "too many run anew": (
        lambda d: turns(d)[0].update(left_out=[{"side": "candidate", "share": 0.5, "uneven": 1.0}] * 3),
        "too many",
    ),
    "another charge": (lambda d: turns(d)[0].update(charged=1e-5), "charged"),
    "other hidden costs": (lambda d: with_costs(d, charged_seconds=0.25), "hidden costs are not as"),
    "another core": (lambda d: turns(d)[0].update(cores=[0, 1]), "number of cores"),
    "another diff": (lambda d: d["candidate"].update(diff=""), "diff does not lead"),
    "another metric": (lambda d: d["settings"].update(metric="memory"), "not looked at when"),
    "a lower confidence": (lambda d: d["settings"].update(confidence=0.6), "not as the samples show"),
    "no samples": (lambda d: d["rungs"][-1]["evidence"].update(measurements=[]), "without samples"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_named(name, timed, tmp_path) -> None:
    change, said = EDITS[name]
    bundle = changed(timed, change)
    assert any(said in line for line in contradictions(bundle)), contradictions(bundle)
    with pytest.raises(Contradiction, match=r"a\.zip contradicts itself") as error:
        library.verify(evidence=written(bundle, tmp_path / "a.zip"), home=tmp_path / "home")
    assert error.value.exit_code == 3
    assert "\n" not in str(error.value)


def test_hidden_costs_that_follow_from_their_observations_are_no_contradiction(timed) -> None:
    assert contradictions(changed(timed, with_costs)) == []


def test_a_weak_verdict_is_no_contradiction(checked) -> None:
    def said(document: dict[str, Any], form: str) -> None:
        (rung,) = (one for one in document["rungs"] if one["name"] == "differential")
        rung["detail"] = form.format(rung["evidence"]["inputs"])

    assert contradictions(changed(checked, lambda d: said(d, "weak: only {} fresh inputs agree"))) == []
    assert contradictions(changed(checked, lambda d: said(d, "weak: only 3 fresh inputs agree"))) != []


def test_a_swapped_candidate_is_named(timed, tmp_path) -> None:
    swapped = replace(timed, texts={**timed.texts, "candidate/slow.py": WRONG.encode()})
    assert "code has another hash, or none, for candidate/slow.py" in contradictions(swapped)

    def rehash(document: dict[str, Any]) -> None:
        document["code"]["candidate/slow.py"] = content_id(WRONG)

    assert "candidate.id is not the hash of the candidate" in contradictions(changed(swapped, rehash))


def test_a_text_too_many_or_too_few_is_named(timed) -> None:
    more = replace(timed, texts={**timed.texts, "support/evil.py": b"x = 1\n"})
    less = replace(timed, texts={name: text for name, text in timed.texts.items() if "workload" not in name})
    stray = replace(timed, texts={**timed.texts, "stray.py": b"x = 1\n"})
    for bundle, said in (
        (more, "support/evil.py"),
        (less, "workload/workload.py is missing"),
        (stray, "belongs to nothing"),
    ):
        assert any(said in line for line in contradictions(bundle))


# What is no bundle


def archive(path: Path, entries: list[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as made:
        for name, data in entries:
            made.writestr(zipfile.ZipInfo(name), data, compression)
    return path


def parts(bundle: Bundle) -> list[tuple[str, bytes]]:
    return [(MANIFEST, bundle.manifest), *bundle.parts.items()]


def lying(path: Path, bundle: Bundle) -> Path:
    """A part that claims to be a gibibyte."""
    whole = bytearray(archive(path, parts(bundle)).read_bytes())
    place = whole.rindex(b"PK\x01\x02")
    whole[place + 20 : place + 28] = (1 << 30).to_bytes(4, "little") * 2
    path.write_bytes(whole)
    return path


def record_of(bundle: Bundle, change: Callable[[bytes], bytes]) -> list[tuple[str, bytes]]:
    made = {**bundle.parts, RECORD: change(bundle.parts[RECORD])}
    return [(MANIFEST, listed(made)), *made.items()]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path, b: (path.write_bytes(b"") and path) or path, "no evidence of whet"),
        (lambda path, b: path.write_text('{"schema": "whet.evidence/1"}') and path, "no evidence of whet"),
        (lambda path, b: path.write_bytes(archive(path, parts(b)).read_bytes()[:-40]) and path, "no evidence of whet"),
        (lambda path, b: archive(path, []), "holds no evidence.json"),
        (lambda path, b: archive(path, [*parts(b), ("../../evil.py", b"")]), "leads elsewhere"),
        (lambda path, b: archive(path, [*parts(b), ("/etc/evil", b"")]), "leads elsewhere"),
        (lambda path, b: archive(path, [*parts(b), ("a\\b", b"")]), "leads elsewhere"),
        (lambda path, b: archive(path, [*parts(b), ("a\nb", b"")]), "leads elsewhere"),
        (lambda path, b: archive(path, [*parts(b), ("folder/", b"")]), "leads elsewhere"),
        (lambda path, b: archive(path, [*parts(b), parts(b)[0]]), "one name"),
        (lambda path, b: archive(path, [*parts(b), ("z", bytes(1 << 24))], zipfile.ZIP_DEFLATED), "compressed"),
        (lambda path, b: archive(path, [(str(i), b"") for i in range(5001)]), "more than 5000"),
        (lying, "no evidence of whet"),
        (lambda path, b: archive(path, record_of(b, lambda r: b"[" * 100000)), "not JSON"),
        (lambda path, b: archive(path, record_of(b, lambda r: b"[]")), "schema 'None'"),
        (lambda path, b: archive(path, record_of(b, lambda r: r.replace(b"evidence/1", b"evidence/9"))), "evidence/9"),
        (lambda path, b: archive(path, record_of(b, lambda r: b'{"schema": 1, ' + r[1:])), "one key twice"),
        (lambda path, b: archive(path, record_of(b, lambda r: r.replace(b'"cores": 1', b'"cores": NaN', 1))), "NaN"),
        (lambda path, b: archive(path, record_of(b, lambda r: r.replace(b'"cores": 1', b'"cores": "x"', 1))), "cores"),
    ],
)
def test_what_is_no_bundle_is_a_usage_error(make, said, checked, tmp_path) -> None:
    path = make(tmp_path / "a.zip", checked)
    with pytest.raises(UsageError) as error:
        read_bundle(path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_field_that_whet_does_not_write_is_a_contradiction(checked, tmp_path) -> None:
    path = archive(tmp_path / "a.zip", record_of(checked, lambda r: b'{"extra": 1, ' + r[1:]))
    with pytest.raises(Contradiction, match="not written as whet writes it"):
        read_bundle(path)


def parts_of(document: dict[str, Any], rung: str) -> dict[str, Any]:
    return next(one for one in document["rungs"] if one["name"] == rung)["evidence"]


def test_what_nobody_would_read_is_not_written(checked: Bundle, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "evidence.zip"
    monkeypatch.setattr("whet.evaluators.evidence.bundle.MOST_PARTS", len(checked.parts) + 1)
    write_bundle(checked, path)
    assert read_bundle(path).texts == checked.texts
    more = replace(checked, texts={**checked.texts, "candidates/another.py": b"pass\n"})
    with pytest.raises(UsageError, match="which no whet would read"):
        write_bundle(more, tmp_path / "more.zip")
    size = path.stat().st_size
    monkeypatch.setattr("whet.evaluators.evidence.bundle.MOST_BYTES", size)
    write_bundle(checked, path)
    assert read_bundle(path).texts == checked.texts
    monkeypatch.setattr("whet.evaluators.evidence.bundle.MOST_BYTES", size - 1)
    with pytest.raises(UsageError, match="which no whet would read"):
        write_bundle(checked, tmp_path / "more.zip")
    assert not (tmp_path / "more.zip").exists()


def test_a_part_cannot_be_the_folder_of_another(checked, tmp_path) -> None:
    path = archive(tmp_path / "a.zip", [*parts(checked), ("baseline/slow.py/x", b"")])
    with pytest.raises(UsageError, match="lies in another"):
        read_bundle(path)
    inner = replace(checked, texts={**checked.texts, "support/slow.py/x.py": b""})
    assert "one of the target's files lies in another" in contradictions(inner)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: parts_of(d, "differential").update(seed="x"),
        lambda d: parts_of(d, "differential").update(hash_seed=1 << 40),
        lambda d: parts_of(d, "differential").update(sources=[1]),
        lambda d: parts_of(d, "differential").update(hashes=[[]]),
        lambda d: parts_of(d, "differential").update(conditions=[{"need": 1}]),
        lambda d: parts_of(d, "confirm")["measurements"][0]["raw"].update(turns=[]),
        lambda d: parts_of(d, "confirm")["measurements"][0]["raw"].update(turns=3),
        lambda d: parts_of(d, "confirm")["measurements"][0]["raw"]["workloads"][0].update(count=10**12),
        lambda d: parts_of(d, "confirm")["measurements"][0]["raw"]["workloads"][0].update(name="size 7"),
        lambda d: parts_of(d, "confirm").update(measurements={}),
        lambda d: parts_of(d, "confirm").update(measurements=[{}]),
    ],
)
def test_hostile_values_are_named(change, timed) -> None:
    assert contradictions(changed(timed, change))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["task"].update(tests=[]),
        lambda d: d["task"]["limits"].update(memory=1 << 50),
        lambda d: d["task"]["limits"].update(seconds=1e9),
        lambda d: d["task"].update(language="cuda"),
        lambda d: d["task"].update(symbol=None),
    ],
)
def test_evidence_cannot_ask_for_what_no_task_has(change, checked, tmp_path) -> None:
    with pytest.raises(UsageError):
        library.verify(evidence=written(changed(checked, change), tmp_path / "a.zip"), home=tmp_path / "home")


def test_a_target_that_leads_elsewhere_is_refused(checked, tmp_path) -> None:
    texts = {name.replace("slow.py", "../../slow.py"): text for name, text in checked.texts.items()}
    with pytest.raises(WhetError):
        library.verify(evidence=archive(tmp_path / "a.zip", parts(replace(checked, texts=texts))), home=tmp_path)
