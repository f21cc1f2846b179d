"""What the operator sets for the server: the environment for secrets, options for the rest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import UsageError
from whet.core.store import default_home

API = "https://api.github.com"
CODE = "https://github.com/{repository}.git"
BUDGET_USD = 1.0
"""What the models of one job may cost."""


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What one job may take, and who proposes.

    Attributes:
        model: as after ``--model``; never the repository's choice under the App, whose keys are the operator's.
        budget_usd: what models may cost for one job; a command may ask for less.
        seconds: what one job may take.
        rounds: turns of the loop for one function.
        top: functions of one pull request that are looked at.
        sandbox: as after ``--sandbox``.
        python: interpreter that candidates run on.
        workers: who evaluates, as after ``--workers`` of `whet optimize`; empty for its default.
    """

    model: str = "catalogue"
    budget_usd: float = BUDGET_USD
    seconds: float = 3600.0
    rounds: int = 3
    top: int = 5
    sandbox: str = "auto"
    python: Path | None = None
    workers: str = ""


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are.

    Attributes:
        folder: of the queue, the copies of repositories and the runs.
        api: GitHub's API.
        code: address of a repository's code; ``{repository}`` stands for ``owner/name``.
        writes_apart: seconds between writes to the API, as GitHub asks for.
    """

    folder: Path
    api: str = API
    code: str = CODE
    writes_apart: float = 1.0

    @staticmethod
    def read(environment: Mapping[str, str] = os.environ) -> Places:
        """Reads ``GITHUB_API_URL``, ``GITHUB_SERVER_URL`` and ``WHET_HOME``; GitHub Enterprise sets the first two."""
        server = environment.get("GITHUB_SERVER_URL", "https://github.com")
        return Places(default_home() / "bot", environment.get("GITHUB_API_URL", API), f"{server}/{{repository}}.git")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What proves who the App is. Its text shows nothing of it.

    Attributes:
        app: id of the App.
        key: private key in PEM.
        secret: of the webhook.
    """

    app: str
    key: str
    secret: bytes

    def __repr__(self) -> str:
        return f"Credentials(app={self.app!r})"

    @staticmethod
    def read(environment: Mapping[str, str] = os.environ) -> Credentials:
        """Reads ``WHET_APP_ID``, ``WHET_APP_KEY_FILE`` and ``WHET_WEBHOOK_SECRET``.

        Raises:
            UsageError: one is missing, cannot be read, or is too weak.
        """
        names = ("WHET_APP_ID", "WHET_APP_KEY_FILE", "WHET_WEBHOOK_SECRET")
        missing = [name for name in names if not environment.get(name)]
        if missing:
            raise UsageError(f"set {', '.join(missing)}; docs/bot.md says where they come from")
        app, file, secret = (environment[name] for name in names)
        if len(secret) < 16:
            raise UsageError("WHET_WEBHOOK_SECRET is shorter than 16 characters; make one with: openssl rand -hex 32")
        try:
            key = Path(file).expanduser().read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"WHET_APP_KEY_FILE {file} cannot be read: {error}") from None
        if "PRIVATE KEY-----" not in key:
            raise UsageError(f"WHET_APP_KEY_FILE {file} holds no private key in PEM")
        return Credentials(app, key, secret.encode())
