"""Recognises the articles of scanned receipts, on which single letters are misread."""

FARTHEST = 2


def distance(one, other):
    row = list(range(len(other) + 1))
    for i, x in enumerate(one, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(other, 1):
            above, row[j] = row[j], above if x == y else 1 + min(above, row[j], row[j - 1])
    return row[-1]


def normalise(name):
    return " ".join(name.lower().split())


def left_outs(name):
    """Returns a name without up to two of its letters, in all ways: near names have one of these in common."""
    once = {name[:i] + name[i + 1 :] for i in range(len(name))}
    twice = {short[:i] + short[i + 1 :] for short in once for i in range(len(short))}
    return once | twice | {name}


class Matcher:
    def __init__(self, articles):
        self.articles = articles

    def match(self, lines):
        exact = {}
        for name, sales in self.articles:
            exact.setdefault(normalise(name), []).append((-sales, name))
        exact = {name: min(ranked) for name, ranked in exact.items()}
        index = None
        known = {}
        found = []
        totals = {}
        for line in lines:
            if line.count(";") != 1:
                continue
            text, cents = line.split(";")
            if not cents.strip().isdecimal():
                continue
            text = normalise(text)
            if text not in known:
                if text in exact:
                    known[text] = exact[text][1], 0
                else:
                    if index is None:
                        index = self._index(exact)
                    known[text] = self._nearest(text, exact, index)
            name, far = known[text]
            price = int(cents)
            found.append((name, far, price))
            if name is not None:
                totals[name] = totals.get(name, 0) + price
        return found, totals

    def _index(self, exact):
        index = {}
        for name in exact:
            for short in left_outs(name):
                index.setdefault(short, []).append(name)
        return index

    def _nearest(self, text, exact, index):
        near = {name for short in left_outs(text) for name in index.get(short, ())}
        ranked = [(far, *exact[name]) for name in near if (far := distance(text, name)) <= FARTHEST]
        if not ranked:
            return None, None
        far, _, name = min(ranked)
        return name, far
