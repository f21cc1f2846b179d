"""From what the store holds of a run to a bundle, and from a bundle back to a task and a candidate."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from whet.core.candidate import Candidate
from whet.core.errors import UsageError
from whet.core.evidence import SCHEMA, CandidateRecord, Evidence, Provenance, Settings, TaskSettings
from whet.core.options import Options
from whet.core.plain import from_plain, to_plain
from whet.core.result import status_of
from whet.core.store import RunRecord, Store
from whet.core.task import Case, Task, Workload
from whet.core.verdict import Verdict
from whet.evaluators.evidence.bundle import Bundle, safe
from whet.evaluators.evidence.packaged import PACKAGE, package_parts, package_record

BASELINE, CANDIDATE, SUPPORT, TESTS = "baseline", "candidate", "support", "tests"
CASES, CALLS, RECORDED, INITS = "cases", "calls", "recorded", "inits"
BINARY = (f"{CASES}/", f"{CALLS}/", f"{RECORDED}/", f"{INITS}/", f"{PACKAGE}/")
"""Parts that need not be text."""
WORKLOAD = "workload/workload.py"
REPEAT = "whet verify --evidence FILE"
HOMES = re.compile(r"/(?:home|Users)/[^/\s\"':]+|/root(?=/)")
WEB_ADDRESS = re.compile(r"@https?://\S+")
ELSEWHERE = Path("/evidence")
"""Where a task that came in a bundle says that its files are; nothing is there."""


def bundle_of(store: Store, run: str) -> Bundle:
    """Returns the bundle of a run's verdict: of the winner, or of the rewrite that was judged.

    Raises:
        UsageError: the run has no verdict, or not all that it takes to repeat it was recorded.
    """
    record = store.run(run)
    result = record.result
    if result is None:
        raise UsageError(f"run {run} is not finished; go on with it: whet runs resume {run}")
    if result["candidate"] is None:
        raise UsageError(f"run {run} ended as {result['status']}, without a verdict that could be repeated")
    id = result["candidate"]["id"]
    known = store.fact(run, "provenance")
    verdict = store.fact(run, f"verdict:{id}:confirm") or store.fact(run, f"verdict:{id}")
    if known is None or verdict is None:
        raise UsageError(
            f"run {run} holds no evidence: nothing was run for its verdict, which follows from the text, "
            "or an older whet made it; judge the rewrite again with whet verify"
        )
    task = recorded_task(store, run)
    candidate = Candidate(store.get(id), **_facts(store.fact(run, f"candidate:{id}")))
    provenance = from_plain(Provenance, known)
    texts = texts_of(task, candidate) | {
        f"{TESTS}/{path}": store.get(name).encode() for path, name in provenance.tests.items()
    }
    evidence = _evidence(record, task, candidate, from_plain(Verdict, verdict), provenance, texts)
    return Bundle(from_plain(Evidence, without_paths(to_plain(evidence), task)), texts)


def recorded_task(store: Store, run: str) -> Task:
    """Returns the task of a run that has recorded it."""
    fact = store.fact(run, "task")
    return from_plain(Task, json.loads(store.get(fact)) if isinstance(fact, str) else fact)


def _facts(candidate: Mapping[str, Any] | None) -> dict[str, Any]:
    known = candidate or {}
    return {name: known[name] for name in ("parent", "origin") if name in known}


def texts_of(task: Task, candidate: Candidate) -> dict[str, bytes]:
    """Returns the texts of a bundle but for those of the target's own tests: path in the bundle -> bytes."""
    texts = {
        f"{BASELINE}/{task.filename}": task.source.encode(),
        f"{CANDIDATE}/{task.filename}": candidate.source.encode(),
    }
    texts |= {f"{SUPPORT}/{path}": text.encode() for path, text in task.support.items()}
    texts |= package_parts(task)
    if task.workload.generator is not None:
        texts[WORKLOAD] = task.workload.generator.encode()
    workload = task.workload
    for folder, calls in ((CALLS, workload.calls), (RECORDED, workload.recorded), (INITS, workload.inits)):
        texts |= {f"{folder}/{number:04}": payload for number, payload in enumerate(calls)}
    for case in task.workload.cases:
        texts[f"{CASES}/{case.name}.in"] = case.stdin
        if case.expected is not None:
            texts[f"{CASES}/{case.name}.out"] = case.expected
    return texts


def _evidence(
    record: RunRecord,
    task: Task,
    candidate: Candidate,
    verdict: Verdict,
    provenance: Provenance,
    texts: Mapping[str, bytes],
) -> Evidence:
    assert record.result is not None
    options: Options = from_plain(Options, record.request["options"])
    return Evidence(
        schema=SCHEMA,
        run=record.id,
        command=record.command,
        repeat=REPEAT,
        task=TaskSettings(
            name=task.name,
            language=task.language,
            kind=task.kind,
            filename=task.filename,
            symbol=task.symbol,
            sizes=task.workload.sizes,
            oracle=task.oracle,
            limits=task.limits,
            tests=task.tests,
            signature=task.signature,
            module=task.module,
            commands=task.commands,
            others=task.others,
            package=package_record(task),
        ),
        settings=Settings(
            options.metric,
            options.min_speedup,
            options.confidence,
            options.cores,
            options.until,
            options.max_memory,
            options.max_time,
            options.quick,
        ),
        candidate=CandidateRecord(
            id=candidate.id,
            parent=candidate.parent,
            origin=WEB_ADDRESS.sub("", candidate.origin),
            labels=tuple(record.result["candidate"]["labels"]),
            diff=candidate.diff(task.source, task.filename),
        ),
        status=status_of(verdict),
        speedup=verdict.measurement.speedup if verdict.measurement and verdict.correct else None,
        rungs=verdict.rungs,
        code={name: hashlib.sha256(data).hexdigest() for name, data in texts.items()},
        provenance=provenance,
    )


def without_paths(value: Any, task: Task) -> Any:
    """Returns plain data in which no text tells where files of the user were."""
    if isinstance(value, str):
        for folder in (task.project, task.root):
            if folder is not None and folder != Path("/"):
                value = value.replace(f"{folder}/", "").replace(str(folder), ".")
        with suppress(RuntimeError):  # a user without a home
            value = value.replace(f"{Path.home()}/", "~/")
        return HOMES.sub("~", value)
    if isinstance(value, Mapping):
        return {name: one if name in ("code", "diff") else without_paths(one, task) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths(one, task) for one in value]
    return value


def task_of(bundle: Bundle, project: Path | None) -> Task:
    """Returns the task of a bundle.

    Args:
        bundle: was found consistent.
        project: a folder where the files of the target's own tests were written; None leaves the tests out.

    Raises:
        UsageError: a path in it leads elsewhere.
    """
    record, texts = bundle.record, bundle.texts
    settings, target = record.task, record.provenance.test_target
    for name in filter(None, (settings.filename, target, *settings.others)):
        if not safe(name):
            raise UsageError(f"the evidence names a file {name!r} that leads elsewhere")
    path, root = ELSEWHERE / settings.filename, ELSEWHERE
    if project is not None and target is not None:
        path = project / target
        if not target.endswith(settings.filename):
            raise UsageError(f"the evidence names the target {target!r} and {settings.filename!r}")
        root = Path(str(path).removesuffix(settings.filename))
    return Task(
        name=settings.name,
        language=settings.language,
        kind=settings.kind,
        path=path,
        source=_text(texts, f"{BASELINE}/{settings.filename}"),
        symbol=settings.symbol,
        signature=settings.signature,
        module=settings.module,
        commands=settings.commands,
        root=root,
        support={
            name.removeprefix(f"{SUPPORT}/"): _text(texts, name) for name in texts if name.startswith(f"{SUPPORT}/")
        },
        workload=Workload(
            generator=_text(texts, WORKLOAD) if WORKLOAD in texts else None,
            cases=tuple(
                _case(texts, name) for name in record.code if name.startswith(f"{CASES}/") and name.endswith(".in")
            ),
            sizes=settings.sizes,
            calls=tuple(texts[name] for name in record.code if name.startswith(f"{CALLS}/")),
            recorded=tuple(texts[name] for name in record.code if name.startswith(f"{RECORDED}/")),
            inits=tuple(texts[name] for name in record.code if name.startswith(f"{INITS}/")),
        ),
        oracle=settings.oracle,
        tests=settings.tests if project is not None else None,
        flags=record.provenance.toolchain.flags,
        limits=settings.limits,
        project=project,
        others=settings.others,
    )


def candidate_of(bundle: Bundle) -> Candidate:
    """Returns the candidate of a bundle."""
    record = bundle.record
    source = _text(bundle.texts, f"{CANDIDATE}/{record.task.filename}")
    return Candidate(source, record.candidate.parent, record.candidate.origin, record.candidate.labels)


def write_tests(bundle: Bundle, folder: Path) -> None:
    """Writes the files of the target's own tests, and the baseline among them, into an empty folder."""
    files = {
        name.removeprefix(f"{TESTS}/"): data for name, data in bundle.texts.items() if name.startswith(f"{TESTS}/")
    }
    assert bundle.record.provenance.test_target is not None
    files[bundle.record.provenance.test_target] = bundle.texts[f"{BASELINE}/{bundle.record.task.filename}"]
    for name, data in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def _case(texts: Mapping[str, bytes], name: str) -> Case:
    stem = name.removesuffix(".in")
    return Case(stem.removeprefix(f"{CASES}/"), texts[name], texts.get(f"{stem}.out"))


def _text(texts: Mapping[str, bytes], name: str) -> str:
    try:
        return texts[name].decode("utf-8")
    except KeyError:
        raise UsageError(f"the evidence holds no {name}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{name} of the evidence is not UTF-8 text") from None
