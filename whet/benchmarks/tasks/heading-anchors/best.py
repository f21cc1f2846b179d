"""Gives the headings of a Markdown document anchors, and makes a table of contents from them."""

import re
import unicodedata

HEADING = re.compile(r"(#{1,6})[ \t]+(.*[^# \t])[ \t]*#*[ \t]*$")
HYPHENS = re.compile("-{2,}")
MARKS = str.maketrans("", "", "*_`")


def slugify(title):
    text = title.lower() if title.isascii() else unicodedata.normalize("NFKD", title).lower()
    slug = "".join([letter if letter.isalnum() else "-" for letter in text if letter.isalnum() or letter in " -_/\t"])
    return HYPHENS.sub("-", slug).strip("-")


def add_anchors(lines, deepest):
    taken = set()
    following = {}
    slugs = {}
    body = []
    contents = []
    in_code = False
    for line in lines:
        if line.startswith(("```", "~~~")):
            in_code = not in_code
        heading = None if in_code or not line.startswith("#") else HEADING.match(line)
        if heading is None:
            body.append(line)
            continue
        title = heading.group(2).translate(MARKS)
        if (slug := slugs.get(title)) is None:
            slug = slugs[title] = slugify(title) or "section"
        anchor = slug
        if anchor in taken:
            number = following.get(slug, 1)
            while (anchor := f"{slug}-{number}") in taken:
                number += 1
            following[slug] = number + 1
        taken.add(anchor)
        body += (f'<a id="{anchor}"></a>', line)
        level = len(heading.group(1))
        if level <= deepest:
            contents.append("  " * (level - 1) + f"- [{title}](#{anchor})\n")
    return body, "".join(contents)
