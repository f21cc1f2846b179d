"""Posts what was found: each thing once, whatever is killed when, and only while the head is what it was."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whet.bot import report
from whet.bot.checkout import Checkout, GitError, commit_patches, push
from whet.bot.findings import FunctionFinding, FunctionStatus
from whet.bot.outcome import Stopped
from whet.bot.port import GitHub, Pull, Refused, Suggestion
from whet.bot.queue import Queue
from whet.bot.suggest import Placed, place
from whet.bot.touched import changed_lines

log = logging.getLogger("whet.bot")


@dataclass(slots=True)
class Publisher:
    """Posts on one pull request.

    Attributes:
        queue: remembers what was posted.
        github: the repository.
        repository: its name.
        pull: the pull request as it stood when the work began.
    """

    queue: Queue
    github: GitHub
    repository: str
    pull: Pull
    _check: str | None = field(default=None, init=False)

    def expect_head(self) -> None:
        """Makes sure that what was found is still about the head.

        Raises:
            Stopped: it moved on, or the pull request was closed.
        """
        now = self.github.pull(self.pull.number)
        if not now.open:
            raise Stopped("the pull request was closed")
        if now.head != self.pull.head:
            raise Stopped(f"the head moved on to {now.head[:10]}")

    # the check run: one for each head

    def begin(self) -> None:
        """Shows that the bot is at work."""
        external = f"whet/{self.pull.number}/{self.pull.head}"
        said = "Functions that the pull request changes are tried in the sandbox."
        key = f"check/{self.repository}/{external}"
        known = self.queue.posted(key) or self._found(key, lambda: self.github.find_check(self.pull.head, external))
        if known is not None:
            self.github.restart_check(known, said)
        else:
            known = self.github.start_check(self.pull.head, external, said)
            self.queue.set_posted(key, known)
        self._check = known

    def end(self, findings: Sequence[FunctionFinding], text: str) -> None:
        """Completes the check run. No gain is neutral: nobody's work fails for want of speed."""
        gained = any(one.answer is FunctionStatus.FASTER for one in findings)
        self._end("success" if gained else "neutral", report.headline(findings), text)

    def leave(self, why: str) -> None:
        """Completes the check run of work that came to nothing, if there is one."""
        if self._check is None:
            external = f"whet/{self.pull.number}/{self.pull.head}"
            self._check = self.queue.posted(f"check/{self.repository}/{external}")
        if self._check is not None:
            self._end("cancelled", "whet stopped", report.code(why))

    def _end(self, conclusion: str, title: str, text: str) -> None:
        assert self._check is not None
        self.github.end_check(self._check, conclusion, title, report.cut(text))  # type: ignore[arg-type]

    # the comment: one for each pull request

    def summarise(self, text: str, *, anew: bool = True) -> None:
        """Writes the comment, or edits it in place.

        Args:
            text: of it.
            anew: write one where there is none.
        """
        self.expect_head()
        key = f"summary/{self.repository}#{self.pull.number}"
        known = self._found(key, lambda: self.github.find_comment(self.pull.number, report.SUMMARY))
        if known is not None:
            self.github.edit_comment(self.pull.number, known, text)
        elif anew:
            self.queue.set_posted(key, self.github.comment(self.pull.number, text))

    def reply(self, name: str, text: str) -> None:
        """Writes a comment of its own, once for each name."""
        marker = f"<!-- whet:reply {name} -->"
        body = f"{marker}\n{text}"
        self._once(
            f"reply/{self.repository}/{name}",
            lambda: self.github.find_comment(self.pull.number, marker),
            lambda: self.github.comment(self.pull.number, body),
        )

    # rewrites

    def propose(self, checkout: Checkout, findings: Sequence[FunctionFinding], url: str) -> list[str]:
        """Offers each rewrite: as a suggestion where the diff shows its lines, else as a follow-up pull request.

        Returns:
            paragraphs for the comment on what stands elsewhere.
        """
        wins = [one for one in findings if one.patch]
        placed = {one.target: self._placed(checkout, one) for one in wins}
        inside = [(one, where) for one in wins if (where := placed[one.target]) is not None]
        outside = [one for one in wins if placed[one.target] is None]
        if inside and not self._review(inside):
            outside = wins
        if not outside:
            return []
        number = None if self.pull.fork else self._follow_up(checkout, outside, url)
        if number is not None:
            return [f"On lines that this diff does not show: #{number}."]
        return [report.patch_block(one) for one in outside]

    def _placed(self, checkout: Checkout, one: FunctionFinding) -> Placed | None:
        source = (checkout.tree / one.path).read_bytes().decode("utf-8", "replace")
        return place(one.patch, source, changed_lines(checkout, one.path))

    def _review(self, inside: Sequence[tuple[FunctionFinding, Placed]]) -> bool:
        """Writes one review with all suggestions; returns whether GitHub took it."""
        name = _digest(self.pull.head, *(one.patch for one, _ in inside))
        marker = f"<!-- whet:review {name} -->"
        body = f"{marker}\n{report.headline([one for one, _ in inside])}, as suggestions below."
        suggestions = [
            Suggestion(one.path, where.start, where.end, report.suggestion(one, where.block())) for one, where in inside
        ]
        self.expect_head()
        try:
            self._once(
                f"review/{self.repository}#{self.pull.number}/{name}",
                lambda: self.github.find_review(self.pull.number, marker),
                lambda: self.github.review(self.pull.number, self.pull.head, body, suggestions),
            )
        except Refused as error:
            log.warning("a review was refused: %s", error)
            return False
        return True

    def _follow_up(self, checkout: Checkout, wins: Sequence[FunctionFinding], url: str) -> str | None:
        """Opens a pull request against the head branch; None where the App may not."""
        name = _digest(self.pull.head, *(one.patch for one in wins))
        branch, title = f"whet/pr-{self.pull.number}-{name}", f"whet: {report.headline(wins)} for #{self.pull.number}"
        marker = f"<!-- whet:follow-up {name} -->"
        body = report.pull_body(wins, self.pull.number, self.pull.head, marker)
        self.expect_head()
        try:
            commit = commit_patches(checkout, [one.patch for one in wins], f"{title}\n\n{body}\n")
            push(checkout, url, commit, branch, self.github.writing_token())
            return self._once(
                f"pull/{self.repository}/{branch}",
                lambda: self.github.find_pull_from(branch),
                lambda: self.github.open_pull(self.pull.branch, branch, title, body),
            )
        except (GitError, Refused) as error:
            log.warning("no follow-up pull request: %s", error)
            return None

    # once

    def _once(self, key: str, find: Callable[[], str | None], post: Callable[[], str]) -> str:
        """Posts something unless it was posted; the intent is on the disk before the post."""
        known = self.queue.posted(key)
        if known is None:
            known = (find() if self.queue.intend(key) else None) or post()
            self.queue.set_posted(key, known)
        return known

    def _found(self, key: str, find: Callable[[], str | None]) -> str | None:
        """Looks on GitHub for what jobs share, also where this queue knows of no post."""
        self.queue.intend(key)
        known = find()
        if known is not None:
            self.queue.set_posted(key, known)
        return known


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
