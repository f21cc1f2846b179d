"""Recognises the articles of scanned receipts, on which single letters are misread."""

FARTHEST = 2
"""So many letters may be wrong, missing or too many."""


def distance(one, other):
    """Returns how many letters have to be changed, added or left out to make one name of another."""
    table = []
    for i in range(len(one) + 1):
        table.append([0] * (len(other) + 1))
        table[i][0] = i
    for j in range(len(other) + 1):
        table[0][j] = j
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            same = table[i - 1][j - 1] + (0 if one[i - 1] == other[j - 1] else 1)
            table[i][j] = min(same, table[i - 1][j] + 1, table[i][j - 1] + 1)
    return table[len(one)][len(other)]


def normalise(name):
    """Returns a name as it is compared: small letters, single blanks."""
    return " ".join(name.lower().split())


class Matcher:
    """Knows the articles of a shop.

    Args:
        articles: tuples of name and number of sales.
    """

    def __init__(self, articles):
        self.articles = articles

    def nearest(self, text):
        """Returns the nearest article: name and distance; (None, None) where all are too far."""
        candidates = []
        for name, sales in self.articles:
            far = distance(normalise(text), normalise(name))
            if far <= FARTHEST:
                candidates.append((far, -sales, name))
        candidates.sort()
        if len(candidates) == 0:
            return None, None
        return candidates[0][2], candidates[0][0]

    def match(self, lines):
        """Recognises the articles of a receipt.

        Args:
            lines: each a name, a semicolon and the price in cents; other lines are skipped.

        Returns:
            Tuples of article (None where none is near), letters that were wrong and cents, and a dict of articles to
            their cents in all.
        """
        found = []
        for line in lines:
            if line.count(";") != 1:
                continue
            text, cents = line.split(";")
            if not cents.strip().isdecimal():
                continue
            name, far = self.nearest(text)
            found.append((name, far, int(cents)))
        totals = {}
        for name in set([row[0] for row in found if row[0] is not None]):
            totals[name] = sum([row[2] for row in found if row[0] == name])
        return found, totals
