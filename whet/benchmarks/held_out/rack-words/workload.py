"""Words made of frequent syllables, and a rack of letters with a blank."""

sizes = [0, 1, 6, 50, 1000, 4000, 6000]

SYLLABLES = "an en er in on re st te ti at es ed is it al ar nt to or se le ne ra li de co ri io ro ca el la".split()
LETTERS = "e" * 12 + "a" * 9 + "i" * 9 + "o" * 8 + "n" * 6 + "r" * 6 + "t" * 6 + "l" * 4 + "s" * 4 + "dgbcmpfhvwykjxqz"


def make_input(size, rng):
    words = ["".join(rng.choices(SYLLABLES, k=rng.randrange(1, 4))) for _ in range(size)]
    for number in range(size):
        if rng.random() < 0.1:
            words[number] = rng.choice((words[number].title(), words[number] + "\n", words[number] + "'s"))
    rack = "".join(rng.sample(LETTERS, 6)) + "?"
    return words, rack, 25, rng.sample(words, size // 60)


def check(args, output):
    dictionary, rack, wanted, taboo = args
    best, possible = output
    assert len(best) <= max(0, wanted) or not best
    assert all(len(word) <= len(rack) and word not in taboo for word, _, _ in best)
    assert possible <= len(dictionary)


def make_input_odd(size, rng):
    """Words of two letters, repeated, with blanks around, of no known letter; racks of nothing, of blanks, of seven alike."""
    letters = rng.choice(("ab", "abc", "aqz", "eéß"))
    words = ["".join(rng.choices(letters, k=rng.choice((0, 1, 2, 2, 3, 7, 8)))) for _ in range(size)]
    words = [rng.choice((word, word, " " + word, word.upper(), word + "1", word + "-")) for word in words]
    rack = "".join(rng.choices(letters + "?", k=rng.choice((0, 1, 3, 7, 8)))) + rng.choice(("", "?", "??", "A", " "))
    taboo = rng.sample(words, min(size, 2)) + [""]
    return words, rack, rng.choice((0, 1, 3, 100)), taboo
