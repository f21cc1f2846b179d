"""Change logs: headings of which many come again, with text and code between them."""

sizes = [0, 1, 5, 40, 300, 900, 1300]

WORDS = ("Added", "Changed", "Fixed", "Removed", "Security", "Known issues", "Upgrade notes", "Contributors")
TEXT = ("Nothing to see here.", "", "- one more thing", "See #12 and #13.", "    # indented", "#no heading")


def make_input(size, rng):
    lines = []
    while len(lines) < size:
        chance = rng.random()
        if chance < 0.1:
            lines.append(f"## Version {rng.randrange(9)}.{rng.randrange(20)}")
        elif chance < 0.35:
            lines.append(f"### {rng.choice(WORDS)}")
        elif chance < 0.42:
            lines.append(f"#### {rng.choice(WORDS)} in `module_{rng.randrange(size)}`")
        elif chance < 0.44:
            lines += ["```sh", "# a comment", "make", "```"]
        else:
            lines.append(rng.choice(TEXT))
    return lines, rng.choice((2, 3, 3, 6))


def check(args, output):
    lines, _ = args
    body, contents = output
    assert [line for line in body if not line.startswith("<a id=")] == [l for l in lines if not l.startswith("<a id=")]
    anchors = [line for line in body if line.startswith("<a id=")]
    assert len(set(anchors)) >= contents.count("](#") - contents.count("](#)")


def make_input_odd(size, rng):
    """Headings that look like the numbered ones, empty and foreign ones, closed ones, and code that never ends."""
    pieces = ("a", "A", "1", "-1", "2", "é", "e\u0301", "ß", "ﬁ", "Ⅷ", "*", "_", "`", " ", "  ", "-", "--", "/", "\t", "#", "!", "日本", "²")
    lines = []
    for _ in range(size):
        kind = rng.random()
        title = "".join(rng.choices(pieces, k=rng.randrange(0, 5)))
        if kind < 0.4:
            title = rng.choice(("a", "a-1", "a 1", "a-1-1", "a 2", "A", "section", "section-1", "!"))
        gap = rng.choice((" ", " ", "  ", "\t", ""))
        lines.append("#" * rng.randrange(1, 8) + gap + title + rng.choice(("", "", " ", " #", "##", " ## ", "\t#\t")))
        if rng.random() < 0.08:
            lines.append(rng.choice(("```", "~~~", "```py", " ```", "``", "~~~~")))
    return lines, rng.randrange(0, 8)
