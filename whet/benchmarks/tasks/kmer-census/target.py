"""Counts the k-mers of sequencing reads, whichever strand they come from."""

PAIRS = [("A", "T"), ("C", "G"), ("G", "C"), ("T", "A")]


def complement(base):
    for one, other in PAIRS:
        if base == one:
            return other
    return "N"


def reverse_complement(kmer):
    result = ""
    for base in kmer:
        result = complement(base) + result
    return result


def is_clean(kmer):
    for base in kmer:
        if base not in [one for one, _ in PAIRS]:
            return False
    return True


def census(reads, k, least):
    """Counts k-mers, each together with its reverse complement.

    Args:
        reads: sequences in large or small letters; a k-mer that holds anything but A, C, G and T is skipped.
        k: the length of a k-mer, 1 or more.
        least: rarer k-mers are left out.

    Returns:
        Tuples of k-mer (the smaller of both strands), occurrences and reads that hold it, most frequent first, and the
        number of skipped places.
    """
    counts = {}
    holders = {}
    skipped = 0
    for number, read in enumerate(reads):
        for start in range(len(read) - k + 1):
            kmer = read.upper()[start : start + k]
            if not is_clean(kmer):
                skipped += 1
                continue
            other = reverse_complement(kmer)
            if other < kmer:
                kmer = other
            if kmer not in counts:
                counts[kmer] = 0
                holders[kmer] = []
            counts[kmer] += 1
            if number not in holders[kmer]:
                holders[kmer].append(number)
    found = []
    for kmer in counts:
        if counts[kmer] >= least:
            found.append((kmer, counts[kmer], len(holders[kmer])))
    found.sort(key=lambda row: row[0])
    found.sort(key=lambda row: row[1], reverse=True)
    return found, skipped
