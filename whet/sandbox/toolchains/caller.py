"""C that calls a function on many prepared arguments: a call from Python would cost more than many a routine takes."""

from __future__ import annotations

from whet.core.signature import Signature

SYMBOL = "whet_calls"
"""Takes the arguments, 8 bytes each and call after call; how many calls a round; where the results go, 8 bytes each;
and how many rounds. The function has a name of ours there, since its own may be one of ours too, such as ``first``."""
RENEWED = "whet_renewed"
"""Takes the same; where the contents of each call's buffers come from and go to, and how many buffers a call has; how
many calls are made at a time; the arguments of as many others, that are called on first, and how often; a function that
copies and one that reads a clock, since those of these names may be the candidate's here; and where the nanoseconds in
the calls go, by the clock and of CPU time, and those in the first ones likewise."""
TYPES = {
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float32": "float",
    "float64": "double",
}
TEXT = """\
#include <stdint.h>
#include <string.h>
#include <time.h>
{returns} whet_function({types}) __asm__("{symbol}");
static __attribute__((noinline)) void
whet_rounds(const char (*first)[8], int64_t calls, char (*returned)[8], int64_t rounds) {{
    while (rounds-- > 0) {{
        const char (*given)[8] = first;
        for (int64_t i = 0; i < calls; i++, given += {count}) {{
            {declared}
            {read}
            {call}
        }}
    }}
}}
void {name}(const char (*first)[8], int64_t calls, char (*returned)[8], int64_t rounds) {{
    whet_rounds(first, calls, returned, rounds);
}}
struct whet_copy {{ char *place, *own; int64_t size, back; }};
typedef int whet_clock(clockid_t, struct timespec *);
static int64_t whet_now(whet_clock *clock, clockid_t which) {{
    struct timespec now;
    clock(which, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}}
void {renewed}(const char (*first)[8], int64_t calls, char (*returned)[8], int64_t rounds,
               const struct whet_copy *copies, int64_t each, int64_t some, const char (*others)[8], int64_t before,
               void *(*copy)(void *, const void *, size_t), whet_clock *clock, int64_t *spent) {{
    spent[3] = whet_now(clock, CLOCK_PROCESS_CPUTIME_ID);
    spent[2] = whet_now(clock, CLOCK_MONOTONIC);
    whet_rounds(others, some, returned, before);
    spent[2] = whet_now(clock, CLOCK_MONOTONIC) - spent[2];
    spent[3] = whet_now(clock, CLOCK_PROCESS_CPUTIME_ID) - spent[3];
    for (int64_t start = 0; start < calls; start += some) {{
        if (some > calls - start) some = calls - start;
        const struct whet_copy *begin = copies + start * each, *end = begin + some * each;
        for (const struct whet_copy *one = begin; one < end; one++) copy(one->place, one->own, one->size);
        int64_t used = whet_now(clock, CLOCK_PROCESS_CPUTIME_ID), begun = whet_now(clock, CLOCK_MONOTONIC);
        whet_rounds(first + start * {count}, some, returned + start, rounds);
        spent[0] += whet_now(clock, CLOCK_MONOTONIC) - begun;
        spent[1] += whet_now(clock, CLOCK_PROCESS_CPUTIME_ID) - used;
        for (const struct whet_copy *one = begin; one < end; one++)
            if (one->back) copy(one->own, one->place, one->size);
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
        renewed=RENEWED,
        count=len(types),
        declared=" ".join(f"{kind} a{i};" for i, kind in enumerate(types)),
        read=" ".join(f"memcpy(&a{i}, given[{i}], sizeof a{i});" for i in range(len(types))),
        call=call,
    )
