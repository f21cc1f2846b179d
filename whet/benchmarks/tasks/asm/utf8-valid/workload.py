"""Text of several scripts, and texts with one fault, at each place where there may be one."""

sizes = [40, 400, 16384, 131072]

SCRIPTS = ((0x20, 0x7E), (0x20, 0x7E), (0xA1, 0x17F), (0x391, 0x3C9), (0x410, 0x44F), (0x3041, 0x3096), (0x4E00, 0x9FFF), (0x1F300, 0x1F64F))
FAULTS = (
    b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xc2", b"\xc2A", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xe1\x80", b"\xe1\x80A",
    b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf1\x80\x80", b"\xf1\x80\x80A",
    b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xfe", b"\xff", b"\xc2\x80\x80", b"\xe1\x80\x80\x80",
)  # fmt: skip
WORDS = 256
"""Different ones in a text at most: many of them are drawn much sooner than many characters."""
EDGES = ("\x00", "\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff")


def _word(rng):
    low, high = rng.choice(SCRIPTS)
    return "".join(map(chr, rng.choices(range(low, high + 1), k=rng.randrange(1, 12)))).encode() + b" "


def _text(size, rng):
    """Returns a text of at least so many bytes."""
    words = [_word(rng) for _ in range(min(WORDS, size // 8 + 1))]
    text = b""
    while len(text) < size:
        text += b"".join(rng.choices(words, k=size // 12 + 1))
    return text


def _cut(text, size):
    """Returns it cut to so many bytes, a last character that no longer fits replaced."""
    whole = text[:size].decode(errors="ignore").encode()
    return whole + b"." * (size - len(whole))


def make_input(size, rng):
    return _cut(_text(size, rng), size), size


def make_input_odd(size, rng):
    """A fault anywhere, at the end too; a text that is cut inside a character; the first and last of each length."""
    text = _cut(_text(size, rng) if rng.random() < 0.7 else b"a" * size, size)
    kind = rng.randrange(5)
    if kind == 0:
        text = _text(size, rng)[:size]
    elif kind == 1:
        text = _cut("".join(rng.choices(EDGES, k=size)).encode(), size)
    else:
        fault = rng.choice(FAULTS)
        at = rng.choice((0, size, rng.randrange(size + 1)))
        text = (text[:at] + fault + text[at + len(fault) :])[-size:] if size else b""
    return text, size


def valid(args):
    """Any bytes may come."""
    return True
