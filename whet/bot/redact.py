"""Keeps tokens and keys out of the bot's log, and out of what works on code."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping

from whet.core.redaction import redacted

MODEL_KEYS = re.compile(r"(?:ANTHROPIC|OPENAI)_[A-Z_]*(?:KEY|URL)|WHET_MODEL")
CLUSTER = re.compile(r"WHET_STORE|RAY_[A-Z_]+")
"""What leads to the hosts of a cluster and to the store that they share."""
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "DOCKER_HOST", "VIRTUAL_ENV", "SSL_CERT_FILE")


def engine_environment(home: str, source: Mapping[str, str] = os.environ, *, cluster: bool = False) -> dict[str, str]:
    """Returns the environment of a process that works on code: no credential of the bot's is in it.

    Args:
        home: of that process's runs.
        source: to take from. The models' keys pass: the process asks models, and hands them to no sandbox.
        cluster: whether hosts of a cluster work for it.
    """
    kept = {name: value for name, value in source.items() if name in KEPT or MODEL_KEYS.fullmatch(name)}
    if cluster:
        kept |= {name: value for name, value in source.items() if CLUSTER.fullmatch(name)}
    return {**kept, "WHET_HOME": home}


class Redacting(logging.Filter):
    """Redacts what is logged, tracebacks included."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrites the record; never drops it."""
        record.msg, record.args = redacted(record.getMessage()), None
        if record.exc_info:
            record.exc_text = redacted(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True


def start_log() -> logging.Logger:
    """Sends the bot's log to stderr, redacted, and silences that of libraries below warnings."""
    handler = logging.StreamHandler()
    handler.addFilter(Redacting())
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    log = logging.getLogger("whet.bot")
    log.setLevel(logging.INFO)
    return log
