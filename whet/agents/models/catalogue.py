"""The catalogue of known edits as a model: a Coder and a Judge that need neither key nor network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from whet.agents.models.base import Brief, Reply, Request
from whet.prompts import fence, one_line, times

if TYPE_CHECKING:
    from whet.agents.catalogue.base import Proposal

_LONGEST = 120  # characters of a line, an origin or a detail; more make prompts longer, fewer cut the reason
_SHOWN = 3  # edits, and rejected candidates, that a directive names; more make the Coder's prompt longer


class CatalogueModel:
    """Answers a Coder's question with the catalogue's next edit, and a Judge's by rules."""

    name = "catalogue"
    free = True

    def complete(self, request: Request) -> Reply:
        """Answers one request; the text is empty where no edit is left to propose."""
        # libcst takes longer to load than the command line may take to start
        from whet.agents.catalogue.search import candidates, single_edits

        brief = request.brief
        if request.role == "judge":
            text = fence(json.dumps(_judge(brief, single_edits(brief)), indent=2), "json") + "\n"
        else:
            asked = candidates(brief)[request.sample : request.sample + 1]
            text = "".join(_answer(proposal, brief.language) for proposal in asked)
        return Reply(text, self.name)


def _answer(proposal: Proposal, language: str) -> str:
    head = f"Change: {one_line(proposal.why)}\nKind: {proposal.label}\nEdit: {proposal.edit}\n\n"
    return f"{head}{fence(proposal.source, language)}\n"


def _judge(brief: Brief, left: list[Proposal]) -> dict[str, Any]:
    """Draws a diagnosis from the verdicts, the hot lines, and the edits that are left.

    Only where the catalogue is the Coder does the lack of further edits mean that nothing is left to try.
    """
    faster = [each for each in brief.verdicts if each.get("ratio") and each.get("low", 0) > 1]
    failed = [each for each in brief.verdicts if not each["correct"]]
    is_coder = all(str(each["origin"]).startswith("catalogue") for each in brief.verdicts)
    share = brief.hot[0].share if brief.hot else 0.0
    return {
        "bottleneck": _bottleneck(brief),
        "evidence": [_evidence(place, each) for place, each in enumerate(brief.verdicts, 1)][:20],
        "directive": " ".join([*_advice(brief, left), *_kept(faster), *_not_again(failed)]),
        # no edit of these lines alone can save more than their share of the time
        "expected_gain": round(min(1 / max(1 - share, 0.1), 10.0), 2) if left else 1.0,
        "confidence": round(0.3 + 0.4 * share, 2) if left else 0.5,
        "stop": is_coder and not left,
    }


def _bottleneck(brief: Brief) -> str:
    if not brief.hot:
        return "not known: no line could be measured"
    hottest = brief.hot[0]
    return f"line {hottest.line} takes {hottest.share:.0%} of the time: {one_line(hottest.text, _LONGEST)}"


def _evidence(place: int, verdict: Mapping[str, Any]) -> str:
    named = f"candidate {place}, {one_line(str(verdict['origin']), _LONGEST)}"
    if not verdict["correct"]:
        return f"{named}: {verdict['reason']}: {one_line(str(verdict['detail']), _LONGEST)}"
    if verdict["ratio"] is None:
        return f"{named}: right, not timed"
    return f"{named}: {times(verdict['ratio'])} ({times(verdict['low'])} to {times(verdict['high'])})"


def _advice(brief: Brief, left: list[Proposal]) -> list[str]:
    if not left:
        return [f"No known edit is left for this text. {_bottleneck(brief)}; it needs another algorithm."]
    edits = "; ".join(f"{_named(each)} at line {each.line} ({each.why})" for each in left[:_SHOWN])
    where = f"Work on line {brief.hot[0].line}" if brief.hot else "Work on what repeats most"
    return [f"{where}. Known edits that promise most: {edits}."]


def _named(proposal: Proposal) -> str:
    from whet.agents.knowledge import card_of

    card = card_of(proposal.edit)
    return proposal.edit if card is None or card.name == proposal.edit else f"{proposal.edit} (card {card.name})"


def _kept(faster: list[Mapping[str, Any]]) -> list[str]:
    if not faster:
        return []
    best = max(faster, key=lambda each: float(each["ratio"]))
    return [f"Keep what {one_line(str(best['origin']), _LONGEST)} did: it gave {times(best['ratio'])}."]


def _not_again(failed: list[Mapping[str, Any]]) -> list[str]:
    return [
        f"Do not repeat {one_line(str(each['origin']), _LONGEST)}: it was rejected ({each['reason']}: "
        f"{one_line(str(each['detail']), _LONGEST)})."
        for each in failed[:_SHOWN]
    ]
