"""What tests of pages ask of a page in a real browser; the browser itself is a fixture of all tests."""

from __future__ import annotations

import re

SIZES = {"phone": 360, "desk": 1280}
READABLE = 4.5
"""Contrast of text with its ground, as WCAG 2 asks of body text at level AA."""
OVERFLOW = """() => [...document.querySelectorAll("body *")]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest("svg, .skip"))
    .map(one => one.outerHTML.slice(0, 80))"""
COLOURS = """() => [...document.querySelectorAll("main *, header *, footer *, nav *")]
    .filter(one => !["title", "desc"].includes(one.tagName))
    .filter(one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
    .map(one => {
        let under = one;
        while (getComputedStyle(under).backgroundColor === "rgba(0, 0, 0, 0)") under = under.parentElement;
        const ink = getComputedStyle(one)[one.closest("svg") ? "fill" : "color"];
        return [ink, getComputedStyle(under).backgroundColor, one.getAttribute("class") || one.tagName];
    })"""


def luminance(colour):
    """Returns the relative luminance of WCAG 2.2 of a colour as the browser computes it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(text, ground):
    dark, light = sorted((luminance(text), luminance(ground)))
    return (light + 0.05) / (dark + 0.05)
