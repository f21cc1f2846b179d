"""C that calls a function on many prepared arguments: a call from Python would cost more than many a routine takes."""

from __future__ import annotations

from whet.core.signature import Signature

SYMBOL = "whet_calls"
"""Takes the arguments, 8 bytes each and call after call; how many calls a round; where the results go, 8 bytes each;
and how many rounds. The function has a name of ours there, since its own may be one of ours too, such as ``first``."""
TYPES = {
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float32": "float",
    "float64": "double",
}
TEXT = """\
#include <stdint.h>
#include <string.h>
{returns} whet_function({types}) __asm__("{symbol}");
void {name}(const char (*first)[8], int64_t calls, char (*returned)[8], int64_t rounds) {{
    while (rounds-- > 0) {{
        const char (*given)[8] = first;
        for (int64_t i = 0; i < calls; i++, given += {count}) {{
            {declared}
            {read}
            {call}
        }}
    }}
}}
"""


def caller_text(signature: Signature, symbol: str) -> str:
    """Returns the C text of the caller of a function; empty where its types do not fit into 8 bytes."""
    types = ["const void *" if one.buffer else TYPES.get(one.type) for one in signature.arguments]
    returns = "void" if signature.returns is None else TYPES.get(signature.returns)
    if returns is None or None in types:
        return ""
    call = f"whet_function({', '.join(f'a{i}' for i in range(len(types)))});"
    if signature.returns is not None:
        call = f"{returns} result = {call} memcpy(returned[i], &result, sizeof result);"
    return TEXT.format(
        returns=returns,
        symbol=symbol,
        types=", ".join(map(str, types)) or "void",
        name=SYMBOL,
        count=len(types),
        declared=" ".join(f"{kind} a{i};" for i, kind in enumerate(types)),
        read=" ".join(f"memcpy(&a{i}, given[{i}], sizeof a{i});" for i in range(len(types))),
        call=call,
    )
