"""Finds the words that a player of a word game can lay."""

from heapq import nsmallest

GROUPS = {1: "aeioulnstr", 2: "dg", 3: "bcmp", 4: "fhvwy", 5: "k", 8: "jx", 10: "qz"}
VALUES = {letter: value for value, letters in GROUPS.items() for letter in letters}


def best_words(dictionary, rack, wanted, taboo):
    rack = rack.lower()
    blanks = rack.count("?")
    stock = {}
    for letter in rack:
        stock[letter] = stock.get(letter, 0) + 1
    stock.pop("?", None)
    letters = set(stock)
    longest = len(rack)
    taboo = set(taboo)
    value = VALUES.get
    seen = set()
    found = []
    for word in dictionary:
        word = word.strip()
        if not 2 <= len(word) <= longest or word in seen or word in taboo:
            continue
        lacking = len(set(word) - letters)
        if lacking > blanks or not word.isalpha() or not word.islower():
            continue
        left = stock.copy()
        filled = ""
        points = 0
        for letter in word:
            if left.get(letter):
                left[letter] -= 1
                points += value(letter, 0)
            else:
                filled += letter
        if len(filled) > blanks:
            continue
        if len(word) == longest >= 7:
            points += 50
        seen.add(word)
        found.append((-points, word, filled))
    best = nsmallest(wanted, found) if wanted > 0 else []
    return [(word, -points, filled) for points, word, filled in best], len(seen)
