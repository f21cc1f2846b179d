"""Answers that no model is asked for: the unchanged text, the best one known, or a file of somebody's answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from whet.benchmarks.suites.base import Answered, Problem, Suite
from whet.core.errors import UsageError, nearest

UNCHANGED, KNOWN_BEST, FILE = "unchanged", "known-best", "answers:"
LONGEST_LINE = 16 << 20
"""Bytes of one answer with what stands around it."""


class _Line(BaseModel):
    model_config = ConfigDict(strict=True)

    problem: str
    sample: int = Field(default=0, ge=0, lt=1_000_000)
    answer: str


@dataclass(frozen=True, slots=True)
class AnswerSources:
    """Answers by a word after ``--model``.

    Attributes:
        name: as the rows have it for their model.
        texts: (problem, sample) -> answer, for a file.
    """

    name: str
    texts: Mapping[tuple[str, int], str]

    @property
    def samples(self) -> int:
        """How many there are of a problem at most."""
        return max((sample for _, sample in self.texts), default=0) + 1

    def has(self, problem: Problem) -> bool:
        """Whether a problem can be answered at all; what a file does not answer counts as a failure, and can."""
        return self.name != KNOWN_BEST or problem.known_best is not None

    def answer(self, problem: Problem, sample: int, unchanged: str) -> str | None:
        """Returns an answer, None where there is none.

        Args:
            problem: to answer.
            sample: which of the answers.
            unchanged: the text that an answer replaces, as whet reads it: for a routine that nobody wrote yet a
                compiler's output.
        """
        if self.name == UNCHANGED:
            return unchanged
        if self.name == KNOWN_BEST:
            return problem.known_best
        return self.texts.get((problem.id, sample))


def given_answers(spec: str, problems: Sequence[Problem], suite: Suite) -> AnswerSources | None:
    """Returns the answers that a word after ``--model`` stands for; None where it names a model.

    Args:
        spec: as written.
        problems: all of the suite.
        suite: that has them; a file whose first line is no answer as whet writes it is read as one of the suite's own.

    Raises:
        UsageError: the file of answers cannot be read, answers twice or something that the suite does not ask.
    """
    if spec in (UNCHANGED, KNOWN_BEST):
        return AnswerSources(spec, {})
    if not spec.startswith(FILE):
        return None
    path = Path(spec.removeprefix(FILE)).expanduser()
    name, ids = f"{FILE}{path.name}", {problem.id for problem in problems}
    if isinstance(suite, Answered) and not _is_ours(path):
        known = {key: text for key, text in suite.answers(path, problems).items() if key[0] in ids}
        if not known:
            raise UsageError(f"{path} answers none of the problems that were read")
        return AnswerSources(name, known)
    texts: dict[tuple[str, int], str] = {}
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        if line.problem not in ids:
            raise UsageError(f"{where}: the suite has no problem {line.problem!r}{nearest(line.problem, ids)}")
        if (line.problem, line.sample) in texts:
            raise UsageError(f"{where}: sample {line.sample} of {line.problem!r} was answered before")
        texts[line.problem, line.sample] = line.answer
    if not texts:
        raise UsageError(f"{path} holds no answers")
    return AnswerSources(name, texts)


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            _Line.model_validate_json(next(filter(bytes.strip, iter(lambda: file.readline(LONGEST_LINE), b"")), b""))
    except ValidationError:
        return False
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    return True


def _lines(path: Path) -> Iterator[tuple[int, _Line]]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
                if len(line) > LONGEST_LINE:
                    raise UsageError(f"{path}, line {number} is longer than {LONGEST_LINE >> 20} MiB")
                if line.strip():
                    yield number, _line(path, number, line)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def _line(path: Path, number: int, line: bytes) -> _Line:
    try:
        return _Line.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{path}, line {number}: {where}{where and ': '}{first['msg']}; a line is "
            '{"problem": ID, "sample": N, "answer": TEXT}'
        ) from None
