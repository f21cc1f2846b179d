"""What the bot writes. Names and messages come from the pull request: they are shown as code, and link nobody."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whet.bot.findings import FunctionFinding, FunctionStatus
from whet.bot.queue import JobState, QueuedJob
from whet.core.redaction import redacted
from whet.core.text import one_line, percent, printable, times

SUMMARY = "<!-- whet:summary -->"
LONGEST = 60_000
"""Characters; GitHub takes 65,535."""
LONGEST_PATCH = 20_000
"""Characters of a patch that a comment shows; of a longer one it names the command that repeats it. With larger patches
fewer fit into `LONGEST`, at which the comment is cut; with a smaller value fewer patches are shown."""
UNVOUCHED = (
    "> The figures come from a job of the pull request's own workflow run, which its author can change: "
    "believe them once somebody has repeated them."
)
ANSWERS = {
    FunctionStatus.FASTER: "**faster**",
    FunctionStatus.NOT_SHOWN: "no gain shown",
    FunctionStatus.SLOWER: "**slower**",
    FunctionStatus.WRONG: "**not the same**",
    FunctionStatus.NOT_TRIED: "not tried",
}


def code(text: str, width: int = 300) -> str:
    """Returns a text as inline code, in one line, in which nothing is markup or a mention, also within a table."""
    line = one_line(redacted(text), width).replace("`", "ʼ").replace("|", "¦")
    return f"`{line}`" if line.strip() else ""


def fenced(text: str, language: str = "") -> str:
    """Returns a text as a block of code that it cannot leave."""
    clean = printable(redacted(text)).rstrip("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", clean)), default=0))
    return f"{fence}{language}\n{clean}\n{fence}"


def summary(
    findings: Sequence[FunctionFinding], head: str, asked: str, *, vouched: bool = True, also: Sequence[str] = ()
) -> str:
    """Returns the sticky comment.

    Args:
        findings: all of a job.
        head: the commit that they are about.
        asked: what was asked, in a few words.
        vouched: whether the bot itself took the figures.
        also: further paragraphs, such as where a patch went.
    """
    parts = [SUMMARY, f"### whet: {headline(findings)}", f"{asked}, at {head}."]
    if not vouched:
        parts.append(UNVOUCHED)
    changes = [one for one in findings if one.command == "verify"]
    rewrites = [one for one in findings if one.command == "optimize"]
    if changes:
        parts += ["**This change against its base**", _table(changes)]
    if rewrites:
        parts += ["**Rewrites tried on the head**", _table(rewrites)]
    parts += [conditions for one in findings if (conditions := _conditions(one))]
    parts += also
    if findings:
        parts.append(_details(findings))
    return cut("\n\n".join(parts))


def headline(findings: Sequence[FunctionFinding]) -> str:
    """Returns the outcome in a few words."""
    slower = sum(one.answer is FunctionStatus.SLOWER for one in findings)
    wrong = sum(one.answer is FunctionStatus.WRONG and one.command == "verify" for one in findings)
    gains = [one for one in findings if one.answer is FunctionStatus.FASTER and one.command == "optimize"]
    faster = sum(one.answer is FunctionStatus.FASTER and one.command == "verify" for one in findings)
    said = []
    if gains:
        said.append(f"{len(gains)} verified {'rewrite' if len(gains) == 1 else 'rewrites'}")
    if faster:
        said.append(f"{faster} changed {'function' if faster == 1 else 'functions'} faster")
    if slower:
        said.append(f"{slower} changed {'function' if slower == 1 else 'functions'} slower")
    if wrong:
        said.append(f"{wrong} no longer the same")
    return ", ".join(said) or "no verified gain"


def suggestion(finding: FunctionFinding, block: str) -> str:
    """Returns a review comment."""
    return cut("\n\n".join(filter(None, (_sentence(finding), block, _conditions(finding), _again(finding)))))


def patch_block(finding: FunctionFinding) -> str:
    """Returns a rewrite that could go nowhere else as a paragraph of the sticky comment."""
    if len(finding.patch) > LONGEST_PATCH:
        return f"The patch of {code(finding.target)} is too long to be shown; {_again(finding)}"
    shown = fenced(finding.patch, "diff")
    return f"<details><summary>patch of {_plain(finding.target)}</summary>\n\n{shown}\n\n</details>"


def pull_body(findings: Sequence[FunctionFinding], number: int, head: str, marker: str) -> str:
    """Returns the text of a follow-up pull request."""
    lines = [marker, f"Rewrites for #{number} at {head}, on lines that its diff does not show."]
    lines += [f"- {_sentence(one)} {_again(one)}" for one in findings]
    lines += filter(None, map(_conditions, findings))
    return cut("\n\n".join([*lines, _details(findings)]))


def status(jobs: Sequence[QueuedJob]) -> str:
    """Returns the answer to ``/whet status``."""
    if not jobs:
        return "whet has done nothing on this pull request yet."
    rows = [
        f"| {one.request.kind} | {code(one.request.target or '') or 'what it changes'} | {one.state} |"
        f" {code(one.note)} |"
        for one in jobs[:20]
    ]
    open_ = sum(job.state in (JobState.QUEUED, JobState.RUNNING) for job in jobs)
    return "\n".join([f"{open_} under way.", "", "| asked | target | state | |", "|---|---|---|---|", *rows])


def explanation(findings: Sequence[FunctionFinding], head: str) -> str:
    """Returns the answer to ``/whet explain``: every check of every function."""
    if not findings:
        return "There is nothing to explain yet: ask `/whet optimize` or `/whet verify` first."
    parts = [
        f"What was done at {head}. A ratio is the time before over the time after, the geometric mean over the timed"
        " workloads; both sides ran interleaved in fresh processes, beside the baseline against itself. *Faster* takes"
        " a significant paired test, the smallest ratio asked for, no timed workload slower, and a second measurement"
        " on unseen inputs."
    ]
    for one in findings:
        rows = [f"| {name} | {status} | {code(detail)} |" for name, status, detail in one.rungs]
        timed = [
            f"- {code(name)}: {times(ratio)} [{times(low)}, {times(high)}]" for name, ratio, low, high in one.workloads
        ]
        parts.append(f"**{code(one.target)}** ({one.command}): {ANSWERS[one.answer]}. {code(one.message)}")
        parts += ["\n".join(timed)] if timed else []
        parts += ["\n".join(["| check | | |", "|---|---|---|", *rows])] if rows else []
    return cut("\n\n".join(parts))


def cut(text: str) -> str:
    """Returns a text that GitHub takes."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n\n(cut: too long for GitHub)"


def _table(findings: Sequence[FunctionFinding]) -> str:
    rows = [
        f"| {code(one.target)} | {ANSWERS[one.answer]} | {_figure(one)} | {code(one.tests, 80)} |"
        f" {', '.join(map(code, one.labels))} | {_cost(one)} |"
        for one in findings
    ]
    return "\n".join(
        ["| function | answer | time before / after | tests | kind | cost |", "|---|---|---|---|---|---|", *rows]
    )


def _figure(one: FunctionFinding) -> str:
    if one.ratio is None or one.low is None or one.high is None or one.confidence is None:
        return code(one.message, 120)
    return f"{times(one.ratio)} [{times(one.low)}, {times(one.high)}] at {percent(one.confidence)}, n = {one.processes}"


def _cost(one: FunctionFinding) -> str:
    return f"${one.cost_usd:.2f}" + ("" if one.cost_complete else " and more: a price is unknown")


def _sentence(one: FunctionFinding) -> str:
    labels = f" ({', '.join(map(code, one.labels))})" if one.labels else ""
    return f"{code(one.target)}{labels}: {_figure(one)}. Tests: {code(one.tests, 80)}."


def _conditions(one: FunctionFinding) -> str:
    """Returns what has to hold for a change that was found right."""
    if one.answer is FunctionStatus.WRONG or not one.conditions:
        return ""
    rows = [
        f"- {code(sentence)}{f'; else for instance {code(call, 1000)}' if call else ''}: {code(difference)}"
        for sentence, call, difference in one.conditions
    ]
    return "\n".join([f"{code(one.target)} behaves as before **only if**", "", *rows])


def _again(one: FunctionFinding) -> str:
    return f"Again: {code(one.reproduce)}"


def _plain(text: str) -> str:
    return re.sub(r"[^\w./:-]", "_", one_line(text, 200))


def _details(findings: Sequence[FunctionFinding]) -> str:
    machines = sorted({one.machine for one in findings if one.machine})
    commands = "\n".join(dict.fromkeys(one.reproduce for one in findings if one.reproduce))
    cost = sum(one.cost_usd for one in findings)
    samples = sum(one.samples for one in findings)
    seconds = sum(one.seconds for one in findings)
    return (
        "<details><summary>machine, cost, how to do it again</summary>\n\n"
        f"Measured on {', '.join(map(code, machines)) or 'an unknown machine'}; {samples} timed calls a side; "
        f"models cost ${cost:.2f}; {seconds:.0f} s.\n\n{fenced(commands, 'sh')}\n\n</details>"
    )
