"""Takes the wins of a run into the user's checkout, where that is as it was committed."""

from __future__ import annotations

from collections.abc import Iterable

from whet.evaluators.repository.revisions import Checkout


def applied(checkout: Checkout, head: str, tip: str, paths: Iterable[str]) -> list[str]:
    """Writes files as a branch has them into the checkout, and returns a line for each that was, or was not.

    A file is overwritten only while it holds what the head does, or what the branch does already.

    Args:
        checkout: the user's.
        head: hash of the commit that was made faster.
        tip: hash of the branch's last commit.
        paths: of the files, from the project's folder.
    """
    lines = []
    for path in dict.fromkeys(paths):
        text, place = checkout.text(tip, path), checkout.root / path
        if text is None or place.is_symlink() or not place.resolve().is_relative_to(checkout.top):
            lines.append(f"not applied: {path} is no plain file here; the branch has it")
        elif checkout.as_committed(path, tip):
            lines.append(f"{path} is as on the branch already")
        elif not checkout.as_committed(path, head):
            lines.append(f"not applied: {path} has changes of its own; the branch has the faster one")
        else:
            place.write_bytes(text.encode())
            lines.append(f"applied to {path}")
    return lines
