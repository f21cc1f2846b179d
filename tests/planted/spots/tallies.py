"""Tallies of what the scanners saw."""


def frequent_codes(codes, least):
    """Returns each code that was seen often enough, once, with how often: in the order of its first scan."""
    found = []
    told = set()
    for code in codes:
        if code in told:
            continue
        told.add(code)
        if codes.count(code) >= least:
            found.append((code, codes.count(code)))
    return found


def shares(counts):
    """Returns each count's part of all, in thousandths."""
    whole = sum(count for _, count in counts)
    return [(code, 1000 * count // whole) for code, count in counts] if whole else []


def busiest(counts):
    """Returns the code with the highest count; of several the first."""
    best = None
    for code, count in counts:
        if best is None or count > best[1]:
            best = (code, count)
    return best


def hours(scans):
    """Returns how many scans fell into each hour of the day."""
    table = [0] * 24
    for minute in scans:
        table[minute // 60 % 24] += 1
    return table
