"""What the contract of a function promises of its pointers, told to the compiler."""

from __future__ import annotations

from collections.abc import Iterator

from whet.agents.catalogue.base import Label, Proposal
from whet.agents.catalogue.cpp.edit import Splice, before_statement, spliced
from whet.agents.catalogue.cpp.source import CppSource, Function, Region, read
from whet.agents.models.base import Brief
from whet.core.signature import Argument, Role
from whet.sandbox.inside.native_values import SIZES

_RESTRICT = frozenset({"restrict", "__restrict", "__restrict__"})


class RestrictPointers:
    """Tells the compiler which buffers never overlap, so that it need not test that, or load values again."""

    name = "restrict-pointers"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.VECTORISATION
    summary = "writes `restrict` on the pointers of which the contract says that they lie apart"
    needs = "a contract with two buffers or more, one of them written, and pointers without `restrict`"
    unsafe = "a caller that does not keep to the contract"
    assumes: tuple[str, ...] = ()

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal for all pointers."""
        source = read(brief)
        if source is None:
            return
        found = _buffers(source, brief)
        word = "restrict" if brief.language == "c" else "__restrict"
        splices = [
            _behind_star(source, param, word)
            for _, param, buffer in found
            if not _may_overlap(buffer, brief) and not _RESTRICT & set(source.words(param))
        ]
        if len(splices) > 1 and any(buffer.role is not Role.IN for _, _, buffer in found):
            line = source.tokens[found[0][0].at].line
            why = "the compiler has to reckon with buffers that overlap, and the contract says that they do not"
            yield Proposal(spliced(source.text, splices), self.name, self.label, line, why)


class AlignedPointers:
    """Tells the compiler how buffers are aligned, so that it need not peel elements off before its vectors."""

    name = "assume-aligned"
    languages: tuple[str, ...] = ("c", "cpp")
    label = Label.VECTORISATION
    summary = "tells the compiler the alignment of buffers that the contract states"
    needs = "a contract that states an `align` beyond the element's size"
    unsafe = "a caller that does not keep to the contract"
    assumes: tuple[str, ...] = ()

    def propose(self, brief: Brief) -> Iterator[Proposal]:
        """Yields one proposal for all pointers."""
        source = read(brief)
        if source is None or source.has_name("__builtin_assume_aligned"):
            return
        splices: list[Splice] = []
        for function, param, buffer in _buffers(source, brief):
            name = source.word(param.end - 1)
            if (
                function.body is not None
                and buffer.align > SIZES[buffer.type]
                and source.word(param.end - 2) != "const"
            ):
                text = f"{name} = (__typeof__({name}))__builtin_assume_aligned({name}, {buffer.align});"
                splices += before_statement(source, function.body.first, function.body.end, text)
                line = source.tokens[function.at].line
        if splices:
            why = "the contract aligns buffers to more than the compiler knows"
            yield Proposal(spliced(source.text, splices), self.name, self.label, line, why)


def _buffers(source: CppSource, brief: Brief) -> list[tuple[Function, Region, Argument]]:
    """Returns the pointers among the target's parameters, in its definition and declarations, with what they are."""
    if brief.signature is None:
        return []
    return [
        (function, param, argument)
        for function in source.functions
        if function.name == brief.symbol and len(function.params) == len(brief.signature.arguments)
        for param, argument in zip(function.params, brief.signature.arguments, strict=True)
        if argument.buffer and "*" in source.words(param)
    ]


def _may_overlap(buffer: Argument, brief: Brief) -> bool:
    assert brief.signature is not None
    return bool(buffer.may_alias) or any(buffer.name in other.may_alias for other in brief.signature.arguments)


def _behind_star(source: CppSource, param: Region, word: str) -> Splice:
    star = max(index for index in param if source.word(index) == "*")
    end = source.tokens[star].end
    return Splice(end, end, word if source.text[end : end + 1].isspace() else f"{word} ")
