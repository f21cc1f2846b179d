"""Counts the k-mers of sequencing reads, whichever strand they come from."""

import re
from collections import Counter

CLEAN = re.compile("[ACGT]+")
STRAND = str.maketrans("ACGT", "TGCA")


def census(reads, k, least):
    strands = {}
    counts = Counter()
    holders = Counter()
    places = 0
    for read in reads:
        places += max(0, len(read) - k + 1)
        kmers = []
        for match in CLEAN.finditer(read.upper()):
            run = match.group()
            kmers += [run[start : start + k] for start in range(len(run) - k + 1)]
        for kmer in kmers:
            if kmer not in strands:
                other = kmer.translate(STRAND)[::-1]
                strands[kmer] = strands[other] = min(kmer, other)
        kmers = [strands[kmer] for kmer in kmers]
        counts.update(kmers)
        holders.update(set(kmers))
    found = [(kmer, count, holders[kmer]) for kmer, count in counts.items() if count >= least]
    found.sort(key=lambda row: (-row[1], row[0]))
    return found, places - sum(counts.values())
