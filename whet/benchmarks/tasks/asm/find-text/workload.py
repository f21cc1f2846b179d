"""A text of made-up words with a rare one near its end, and cases with nearly equal places, short and empty words."""

sizes = [40, 400, 65536, 262144]

LETTERS = "eeeeeettttaaaaoooiiinnnsssrrrhhhddlluuccmmffyywwggpbvk"


def make_input(size, rng):
    words = ["".join(rng.choices(LETTERS, k=rng.randrange(1, 10))) for _ in range(300)]
    text = bytearray(" ".join(rng.choices(words, k=size // 2 + 1)).encode()[:size])
    word = "".join(rng.choices(LETTERS, k=min(size, rng.randrange(6, 13)))).encode()
    at = max(0, size - len(word) - rng.randrange(size // 16 + 1))
    text[at : at + len(word)] = word
    return bytes(text), size, word, len(word)


def make_input_odd(size, rng):
    """Two letters only, words that overlap themselves, end the text, are longer than it, or are missing."""
    letters = rng.choice((b"ab", b"aaaaab", b"a", b"\x00\xff\x7f\x80"))
    text = bytes(rng.choices(letters, k=size))
    length = rng.choice((0, 1, 1, 2, 3, 4, 7, 16, 31, 32, 33, 40, size, size + 1))
    start = rng.choice((0, max(0, size - length), rng.randrange(size + 1)))
    word = bytearray(text[start : start + length])
    word += bytes(rng.choices(letters, k=length - len(word)))
    if word and rng.random() < 0.3:
        word[rng.randrange(len(word))] = rng.choice((letters[0], 99))
    return text, size, bytes(word), len(word)


def valid(args):
    """Any bytes may come."""
    return True
