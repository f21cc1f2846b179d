"""whet as the environment of a reinforcement-learning run: a reward function as TRL's trainers take it.

Completions are hostile text: they are read as a model's answers are, and run in the sandbox alone.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeAlias

from whet.agents.answers import parse_answer
from whet.agents.coder import answer_language
from whet.agents.learning.answers import question
from whet.agents.learning.rewards import NO_GAIN, UNUSABLE, reward_of
from whet.core.candidate import Candidate, content_id
from whet.core.options import Options, one_of
from whet.core.patch import Malformed
from whet.evaluators.judged import drawn
from whet.evaluators.ladder import open_ladder
from whet.evaluators.protocol import Evaluator
from whet.evaluators.targets import read_task

Completion: TypeAlias = str | Sequence[Mapping[str, Any]]
"""A text, or a conversation whose last message is the answer."""
RUNGS = ("differential", "hazard", "prove", "measure")
"""Where a reward may end. A later rung is for what is reported; before these nothing is known of a candidate."""
ORIGIN = "completion"


def reward_function(target: str, *, evaluator: Evaluator | None = None, **options: Any) -> RewardFunction:
    """Opens a target as an environment.

    Args:
        target: as after ``whet optimize``.
        evaluator: judges the completions; None opens the ladder of the target.
        **options: the fields of `whet.core.options.Options`. ``until`` is one of `RUNGS`: ``measure`` where it is not
            given, and ``differential`` for rewards that ask no time.

    Returns:
        a callable that holds a sandbox until it is closed; it is a context manager too.

    Raises:
        UsageError: target or an option cannot be used.
        BaselineError: no verdict could rest on this baseline.
    """
    settings = Options(**{"until": "measure", **options})
    one_of("--until", str(settings.until), RUNGS)
    if evaluator is None:
        evaluator = open_ladder(read_task(target, settings), settings, drawn(settings))
    try:
        evaluator.validate()
    except BaseException:
        evaluator.close()
        raise
    return RewardFunction(evaluator, settings)


class RewardFunction:
    """Takes completions, and returns a reward for each: see `whet.agents.learning.rewards`.

    A text that was judged before is not judged again. All new texts of one call meet the same fresh inputs; they are
    checked side by side, and measured one after the other.

    Args:
        evaluator: was validated; closed with this.
        settings: that it was opened with.

    Attributes:
        prompt: what the completions answer, as `whet runs export` writes it.
    """

    def __init__(self, evaluator: Evaluator, settings: Options) -> None:
        self.__name__ = "whet_reward"  # trainers name their columns after it
        self.prompt = question(evaluator.task, settings.metric)
        self._evaluator = evaluator
        self._settings = settings
        self._known = {content_id(evaluator.task.source): NO_GAIN}
        self._lock = threading.Lock()
        self._end = weakref.finalize(self, evaluator.close)

    def __call__(self, completions: Sequence[Completion], **kwargs: Any) -> list[float]:
        """Returns a reward from -1 to 1 for each completion, in their order.

        Args:
            completions: texts, or conversations whose last message is the answer.
            **kwargs: the other columns of the data set and what else a trainer passes; not looked at.

        Raises:
            ValueError: it was closed.
        """
        proposed = [self._read(completion) for completion in completions]
        with self._lock:
            if not self._end.alive:
                raise ValueError("this reward function was closed")
            self._judge({one.id: one for one in proposed if one is not None and one.id not in self._known})
            return [UNUSABLE if one is None else self._known[one.id] for one in proposed]

    def __enter__(self) -> RewardFunction:
        """Returns itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    def close(self) -> None:
        """Ends its sandbox; a second time does nothing."""
        with self._lock:
            self._end()

    def _read(self, completion: Completion) -> Candidate | None:
        """Returns the candidate of a completion; None where it cannot be read."""
        task = self._evaluator.task
        answer = parse_answer(text_of(completion), task.source, answer_language(task), task.filename)
        if isinstance(answer, Malformed):
            return None
        return Candidate(answer.source, content_id(task.source), ORIGIN, answer.labels, answer.note)

    def _judge(self, new: Mapping[str, Candidate]) -> None:
        if not new:
            return
        candidates = list(new.values())
        self._evaluator.announce(candidates)
        with ThreadPoolExecutor(self._settings.workers) as pool:
            verdicts = list(pool.map(self._evaluator.check, candidates))
        for candidate, verdict in zip(candidates, verdicts, strict=True):
            if verdict.correct and self._settings.until == "measure":
                verdict = self._evaluator.measure(candidate, verdict)
            self._known[candidate.id] = reward_of(verdict)


def text_of(completion: Completion) -> str:
    """Returns the answer in a completion; empty where its last message holds no text."""
    if isinstance(completion, str):
        return completion
    said = completion[-1].get("content") if completion else None
    return said if isinstance(said, str) else ""
