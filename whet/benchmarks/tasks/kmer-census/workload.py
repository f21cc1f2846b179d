"""Reads of a short genome from both strands, with errors and places that could not be read."""

sizes = [0, 1, 4, 12, 20, 30, 40]

STRAND = str.maketrans("ACGT", "TGCA")


def make_input(size, rng):
    genome = "".join(rng.choices("ACGT", k=10 * size + 80))
    reads = []
    for _ in range(size):
        start = rng.randrange(len(genome) - 60)
        read = genome[start : start + rng.randrange(50, 61)]
        if rng.random() < 0.5:
            read = read.translate(STRAND)[::-1]
        if rng.random() < 0.3:
            at = rng.randrange(len(read))
            read = read[:at] + rng.choice("ACGTN") + read[at + 1 :]
        reads.append(read)
    return reads, rng.choice((9, 11, 12)), 2


def valid(args):
    reads, k, least = args
    return k >= 1 and all(read.isascii() for read in reads)


def check(args, output):
    reads, k, least = args
    found, skipped = output
    assert sum(row[1] for row in found) + skipped <= sum(max(0, len(read) - k + 1) for read in reads)
    assert all(row[1] >= max(least, row[2]) for row in found)


def make_input_odd(size, rng):
    """Reads of few letters, small ones, empty and short ones, k-mers that are their own strand, repeated reads."""
    letters = rng.choice(("AT", "ACGT", "acgtACGT", "ACGTN", "A", "ACGT-", "ATx"))
    reads = ["".join(rng.choices(letters, k=rng.choice((0, 1, 2, 3, 5, 8, 20)))) for _ in range(size)]
    if reads and rng.random() < 0.5:
        reads.append(rng.choice(reads))
    return reads, rng.choice((1, 1, 2, 2, 3, 4, 5)), rng.choice((0, 1, 1, 2, 3))
