"""Sequences of some thousand bases, as they come from an assembly."""

sizes = [0, 1, 30, 300, 3000, 30000, 40000]


def fasta(name, sequence, width=70):
    return "\n".join([f">{name}", *(sequence[at : at + width] for at in range(0, len(sequence), width))])


def make_input(size, rng):
    parts = []
    while size > 0:
        length = min(size, rng.randrange(9000, 20000))
        sequence = "".join(rng.choices("ACGT", (3, 2, 2, 3), k=length))
        parts.append(fasta(f"contig {len(parts) + 1}", sequence))
        size -= length
    return "\n".join(parts) + "\n"


def make_input_odd(size, rng):
    """Small letters, unknown bases, sequences of nothing, of one base, of starts and stops alone; other line ends."""
    parts = [rng.choice(("", "; no name yet\nACGT", "\n"))]
    for number in range(rng.randrange(1, 6)):
        pieces = rng.choice((["ATG", "TAA", "CCC"], ["atg", "A", "tga"], ["CAT", "TTA"], ["N", "ATG", "-", "u"], ["A"]))
        sequence = "".join(rng.choices(pieces, k=rng.randrange(min(size, 400) + 1)))
        parts.append(fasta(rng.choice(("x", "", f"y {number}")), sequence, rng.choice((1, 7, 60))))
    return rng.choice(("\n", "\r\n")).join(parts) + rng.choice(("", "\n"))
