"""The workflows of a repository that uses ``whet bot action``: what runs code and what posts never share a job.

A pull request of a fork runs ``whet.yml`` as its author wrote it, with a token that reads and no secret; what it found
is a file, which ``whet-post.yml``, as the base branch has it, takes as data. Commands run ``whet.yml`` as the default
branch has it: the job that runs the code still has a token that only reads, and a second one posts.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from whet.core.errors import UsageError

FOLDER = Path(".github", "workflows")
NAMES = ("whet.yml", "whet-post.yml")


def workflow_texts() -> dict[str, str]:
    """Returns the workflows by their path in a repository."""
    templates = files("whet.bot") / "templates"
    return {str(FOLDER / name): (templates / name).read_text(encoding="utf-8") for name in NAMES}


def write_workflows(root: Path) -> list[Path]:
    """Writes the workflows into a repository, and returns their paths there.

    Args:
        root: of the repository.

    Raises:
        UsageError: one is there already with another text, or cannot be written. Nothing is written then.
    """
    texts = workflow_texts()
    for name, text in texts.items():
        path = root / name
        if path.exists() and path.read_text(encoding="utf-8", errors="replace") != text:
            raise UsageError(f"{path} is there already; move it away, or edit it by hand")
    try:
        (root / FOLDER).mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (root / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the workflows cannot be written: {error}") from None
    return [Path(name) for name in texts]
