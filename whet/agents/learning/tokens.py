"""Source text as the tokens of its language, none of its characters lost."""

from __future__ import annotations

import re

NAMES = r"[^\W\d]\w*|\d[\w.]*"
BLANKS = r"\n|[^\S\n]+"
OPERATORS = r"<<=|>>=|\*\*=|//=|->|::|&&|\|\||<<|>>|\+\+|--|\*\*|[-+*/%&|^=!<>:]=|<=|>="
TEXTS = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"
LONG_TEXTS = r'(?i:[rbuf]{0,2})(?:"""(?s:\\.|.)*?"""' + r"|'''(?s:\\.|.)*?'''" + rf"|{TEXTS})"
PYTHON = re.compile(rf"#[^\n]*|{LONG_TEXTS}|{NAMES}|{OPERATORS}|{BLANKS}|.", re.DOTALL)
# "//" is an operator of Python and begins a comment elsewhere: comments come first.
NATIVE = re.compile(rf"//[^\n]*|/\*(?s:.)*?\*/|{TEXTS}|{NAMES}|{OPERATORS}|{BLANKS}|.", re.DOTALL)


def tokens(text: str, language: str) -> list[str]:
    """Returns the tokens of a source text, blanks and comments included; joined they are the text.

    Text that the language does not allow, as a wrong candidate may hold, is divided too.

    Args:
        text: the source.
        language: ``python`` goes by Python's strings and comments, any other by those of C.
    """
    return (PYTHON if language in ("python", "triton") else NATIVE).findall(text)
