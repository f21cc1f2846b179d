"""Finds the words that a player of a word game can lay."""


def letter_value(letter):
    values = {
        1: ["a", "e", "i", "o", "u", "l", "n", "s", "t", "r"],
        2: ["d", "g"],
        3: ["b", "c", "m", "p"],
        4: ["f", "h", "v", "w", "y"],
        5: ["k"],
        8: ["j", "x"],
        10: ["q", "z"],
    }
    for value in values:
        if letter in values[value]:
            return value
    return 0


def can_lay(word, rack):
    """Returns the letters of the word for which blanks ('?') stand, or None where the rack does not suffice."""
    left = list(rack)
    blanks = []
    for letter in word:
        if letter in left:
            left.remove(letter)
        elif "?" in left:
            left.remove("?")
            blanks.append(letter)
        else:
            return None
    return blanks


def score(word, blanks, rack):
    total = 0
    for letter in word:
        total += letter_value(letter)
    for letter in blanks:
        total -= letter_value(letter)
    if len(word) == len(rack) and len(word) >= 7:
        total += 50
    return total


def best_words(dictionary, rack, wanted, taboo):
    """Lists the words that bring most points.

    Args:
        dictionary: words; only those of small letters count, each once.
        rack: the player's letters, '?' for a blank, which brings no points.
        wanted: how many words are asked for.
        taboo: words that are not allowed.

    Returns:
        Tuples of word, points and the letters that are blanks, best first, equal ones in order; and the number of words
        that can be laid.
    """
    found = []
    seen = []
    for word in dictionary:
        word = word.strip()
        if len(word) < 2 or not word.isalpha() or not word.islower() or word in taboo:
            continue
        if word in seen:
            continue
        blanks = can_lay(word, rack.lower())
        if blanks is not None:
            seen.append(word)
            found.append((word, score(word, blanks, rack.lower()), "".join(blanks)))
    best = []
    while len(best) < wanted and len(found) > 0:
        top = sorted(found, key=lambda row: (-row[1], row[0]))[0]
        best.append(top)
        found.remove(top)
    return best, len(seen)
