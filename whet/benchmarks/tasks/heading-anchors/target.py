"""Gives the headings of a Markdown document anchors, and makes a table of contents from them."""

import re
import unicodedata


def slugify(title):
    """Returns a heading as it stands in an address: small letters, digits and single hyphens."""
    slug = ""
    for letter in unicodedata.normalize("NFKD", title).lower():
        if letter.isalnum():
            slug = slug + letter
        elif letter in [" ", "-", "_", "/", "\t"]:
            slug = slug + "-"
    while "--" in slug:
        slug = slug.replace("--", "-")
    return slug.strip("-")


def make_unique(slug, taken):
    """Returns the slug, with a number behind it if it was there before."""
    if slug not in taken:
        return slug
    number = 1
    while f"{slug}-{number}" in taken:
        number += 1
    return f"{slug}-{number}"


def add_anchors(lines, deepest):
    """Puts an anchor before each heading.

    Args:
        lines: of the document; fenced code is left alone.
        deepest: headings of a deeper level are not listed.

    Returns:
        The lines with the anchors, and the table of contents.
    """
    taken = []
    body = []
    contents = ""
    in_code = False
    for line in lines:
        if re.match(r"(```|~~~)", line):
            in_code = not in_code
        heading = re.match(r"(#{1,6})[ \t]+(.*[^# \t])[ \t]*#*[ \t]*$", line)
        if in_code or heading is None:
            body = body + [line]
            continue
        level = len(heading.group(1))
        title = re.sub(r"[*_`]", "", heading.group(2))
        anchor = make_unique(slugify(title) or "section", taken)
        taken.append(anchor)
        body = body + [f'<a id="{anchor}"></a>', line]
        if level <= deepest:
            contents = contents + "  " * (level - 1) + "- [" + title + "](#" + anchor + ")\n"
    return body, contents
