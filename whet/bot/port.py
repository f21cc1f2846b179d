"""What the bot asks of GitHub, in its own words; `whet.bot.github` says it with PyGithub."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Conclusion = Literal["success", "neutral", "failure", "cancelled"]
Reaction = Literal["eyes", "rocket", "confused"]


class Later(Exception):
    """GitHub asks to wait, or could not answer now.

    Attributes:
        seconds: to wait; None where GitHub named none.
        limited: whether it was a rate limit, which holds for the whole installation.
    """

    def __init__(self, why: str, seconds: float | None = None, *, limited: bool = False) -> None:
        super().__init__(why)
        self.seconds = seconds
        self.limited = limited


class Gone(Exception):
    """The repository, the pull request or the installation is no longer there for the bot."""


class Refused(Exception):
    """GitHub does not take what was sent."""


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request as it stands.

    Attributes:
        number: of it.
        open: whether it still is.
        head: the commit.
        branch: of the head.
        base: the branch that it is to be merged into.
        base_sha: where that branch is.
        fork: whether the head is in another repository, or that one is gone.
    """

    number: int
    open: bool
    head: str
    branch: str
    base: str
    base_sha: str
    fork: bool


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A review comment that replaces lines of the head.

    Attributes:
        path: of the file.
        start: the first line, counted from 1.
        end: the last line.
        body: its text.
    """

    path: str
    start: int
    end: int
    body: str


class GitHub(Protocol):
    """One repository. Every method may raise `Later`, `Gone` or `Refused`; what it posts carries a marker.

    ``find_*`` looks among what the bot itself posted only, whatever others copy.
    """

    def pull(self, number: int) -> Pull:
        """Returns a pull request."""

    def may_write(self, login: str) -> bool:
        """Whether somebody may write to the repository."""

    def react(self, comment: int, reaction: Reaction) -> None:
        """Adds a reaction to a comment; one that is there already stays."""

    def find_comment(self, number: int, marker: str) -> str | None:
        """Returns the id of the bot's comment that holds a marker."""

    def comment(self, number: int, body: str) -> str:
        """Writes a comment and returns its id."""

    def edit_comment(self, number: int, id: str, body: str) -> None:
        """Replaces a comment's text."""

    def find_check(self, head: str, external_id: str) -> str | None:
        """Returns the id of the bot's check run of a commit."""

    def start_check(self, head: str, external_id: str, summary: str) -> str:
        """Makes a check run that is in progress and returns its id."""

    def restart_check(self, id: str, summary: str) -> None:
        """Sets a check run to in progress."""

    def end_check(self, id: str, conclusion: Conclusion, title: str, summary: str) -> None:
        """Completes a check run."""

    def find_review(self, number: int, marker: str) -> str | None:
        """Returns the id of the bot's review that holds a marker."""

    def review(self, number: int, head: str, body: str, suggestions: Sequence[Suggestion]) -> str:
        """Writes a review of a commit, which neither approves nor blocks, and returns its id."""

    def find_pull_from(self, branch: str) -> str | None:
        """Returns the number of a pull request from a branch of the repository, open or not."""

    def open_pull(self, base: str, branch: str, title: str, body: str) -> str:
        """Opens a pull request and returns its number."""

    def reading_token(self) -> str | None:
        """Returns a token that may read the code; None where none is needed."""

    def writing_token(self) -> str | None:
        """Returns a token that may push branches; None where none is needed."""
