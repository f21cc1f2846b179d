"""Keeps tokens and keys out of whatever is written down."""

from __future__ import annotations

import re

TOKENS = re.compile(
    r"gh[a-z]_[A-Za-z0-9_.-]{16,}|github_pat_\w{20,}|\bsk-[\w-]{16,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"
    r"|(?i:basic|bearer|token) [A-Za-z0-9+/=._-]{16,}|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END[^-]*-----|\Z)",
    re.DOTALL,
)
"""Tokens of GitHub, keys of models, JSON web tokens, headers that carry them, private keys."""
HIDDEN = "[redacted]"


def redacted(text: str) -> str:
    """Returns a text without anything that looks like a token or a key."""
    return TOKENS.sub(HIDDEN, text)
