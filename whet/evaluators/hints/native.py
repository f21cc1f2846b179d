"""Hints in C and C++ source, on its syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whet.evaluators.hints.base import HintMatch, addressed
from whet.evaluators.hints.native_names import DEFINED, HINTS, PREFIXES, TEXTS
from whet.evaluators.syntax.native import LONGEST, NodeContext, Source, child

CONSTANT = re.compile(r"\b(const|constexpr|constinit|consteval)\b")
FLAGS = re.compile(
    r"#\s*pragma\s+(GCC|clang|optimize)\b.*\b(optimize|target|float_control|fp)|__attribute__.*\b(optimize|target)\b"
)
LOOSE = re.compile(r"fast-math|Ofast|FP_CONTRACT|unsafe-math|reassoc|_MM_SET_(FLUSH_ZERO|DENORMALS)")
PARALLEL = re.compile(r"#\s*pragma\s+(omp|acc)\b(?!\s+simd)")
HOOKS = re.compile(r"\b(constructor|destructor|init_array|fini_array|preinit_array|ifunc|init_priority)\b")
WORD = re.compile(r"[A-Za-z_]\w*")
ADDRESS = re.compile(r"&\s*\w+|reinterpret_cast\s*<\s*u?intptr_t")
SIZES = re.compile(r"\b(n|N|m|M|len|size|length|count)\b|\.(size|length)\(\)")
SMALL = 2
"""Numbers up to which a comparison with a size is a guard of the usual kind; a larger one misses special cases."""
TABLE = 64
"""Items from which on a list of values counts as a large table. A larger number misses smaller tables of answers, a
smaller one names tables that algorithms need."""
LONG_TEXT = 1000  # characters from which on a string counts as one: a larger number misses shorter strings


def find_c(source: str) -> Iterator[HintMatch]:
    """Yields all that looks like a trick in C source."""
    return _find("c", source)


def find_cpp(source: str) -> Iterator[HintMatch]:
    """Yields all that looks like a trick in C++ source."""
    return _find("cpp", source)


def _find(language: str, source: str) -> Iterator[HintMatch]:
    read = Source.parse(language, source)
    if read is None:
        yield HintMatch("unread", "length", 1, f"more than {LONGEST} bytes")
        return
    yield from addressed(read.lines)
    pasting: set[str] = set()
    for context in read.walk():
        node = context.node
        number, line = read.line(node)
        rule = RULES.get(node.type)
        if rule is not None:
            for name, about in rule(read, context):
                yield HintMatch(name, about, number, line)
        if node.type == "preproc_function_def" and "##" in read.text(child(node, "value")):
            pasting.add(read.text(child(node, "name")))
        if node.type == "call_expression" and pasting and read.text(child(node, "function")) in pasting:
            pasted = "".join(WORD.findall(read.text(child(node, "arguments"))))
            if _hint(pasted):
                yield HintMatch("hidden_string", pasted, number, line)


Rule = Iterator[tuple[str, str]]


def _hint(word: str) -> str | None:
    if word in HINTS:
        return HINTS[word]
    return next((hint for prefix, hint in PREFIXES.items() if word.startswith(prefix)), None)


def _word(read: Source, context: NodeContext) -> Rule:
    """A name of something that only tricks, or few honest programs, use."""
    word = read.text(context.node)
    declared = context.parent in ("function_declarator", "parameter_declaration")
    if (hint := _hint(word)) and not declared:
        yield hint, word


def _definition(read: Source, context: NodeContext) -> Rule:
    declarator = child(context.node, "declarator")
    while declarator is not None and (inner := child(declarator, "declarator")) is not None:
        declarator = inner
    name = read.text(declarator)
    if name.replace(" ", "") in DEFINED:
        yield "symbol_override", name
    yield from _attribute(read.text(context.node).partition("{")[0])


def _declaration(read: Source, context: NodeContext) -> Rule:
    """Variables that outlive a call, or that the compiler may not think about."""
    written = read.text(context.node).partition("=")[0]
    name = (WORD.findall(re.sub(r"\[.*|\{.*|\(.*", "", written, flags=re.DOTALL)) or [""])[-1]
    kinds = [
        read.text(part) for part in context.node.children if part.type in ("storage_class_specifier", "type_qualifier")
    ]
    function = any(part.type == "function_declarator" for part in context.node.children)
    local = "static" in kinds or "thread_local" in kinds
    lasting = local if context.in_function else context.node.type == "declaration"
    if lasting and not function and not any(map(CONSTANT.fullmatch, kinds)) and "extern" not in kinds:
        yield "module_state", name
    if "volatile" in kinds:
        yield "volatile_access", name
    yield from _attribute(written)


def _attribute(written: str) -> Rule:
    if match := HOOKS.search(written):
        yield "load_hook", match[0]
    if FLAGS.search(written):
        yield "optimisation_pragma", "attribute"


def _pragma(read: Source, context: NodeContext) -> Rule:
    written = read.text(context.node)
    if LOOSE.search(written):
        yield "fast_math", " ".join(written.split())
    if FLAGS.search(written):
        yield "optimisation_pragma", " ".join(written.split())
    if PARALLEL.search(written):
        yield "thread_start", "pragma omp"


def _macro(read: Source, context: NodeContext) -> Rule:
    value = read.text(child(context.node, "value"))
    if "##" in value:
        yield "token_pasting", read.text(child(context.node, "name"))
    for word in WORD.findall(value):
        if hint := _hint(word):
            yield hint, word
    if LOOSE.search(value):
        yield "fast_math", value


def _string(read: Source, context: NodeContext) -> Rule:
    """Texts that name what is out of bounds, put together where they stand in parts."""
    parts = [part for part in context.node.named_children if part.type == "string_literal"] or [context.node]
    whole = "".join("".join(read.text(piece) for piece in part.named_children) for part in parts)
    for pattern, hint in TEXTS.items():
        if match := re.search(pattern, whole):
            yield hint, match[0]
    if len(parts) > 1:
        yield from (("hidden_string", word) for word in WORD.findall(whole) if word in HINTS and len(word) > 4)
    if len(whole) >= LONG_TEXT:
        yield "literal_table", f"{len(whole)} characters"


def _text(read: Source, context: NodeContext) -> Rule:
    if context.parent != "concatenated_string":
        yield from _string(read, context)


def _compared(read: Source, context: NodeContext) -> Rule:
    sides = [child(context.node, "left"), child(context.node, "right")]
    operator = read.text(child(context.node, "operator"))
    numbers = [read.text(side) for side in sides if side is not None and side.type == "number_literal"]
    large = bool(numbers) and numbers[0].isdigit() and int(numbers[0][:18]) > SMALL
    if operator == "==" and large and any(side is not None and SIZES.search(read.text(side)) for side in sides):
        yield "hard_coded_case", " ".join(read.text(context.node).split())[:80]


def _table(read: Source, context: NodeContext) -> Rule:
    if context.node.named_child_count >= TABLE:
        yield "literal_table", f"{context.node.named_child_count} items"


def _caught(read: Source, context: NodeContext) -> Rule:
    written = read.text(child(context.node, "parameters"))
    if "..." in written or re.search(r"\bexception\b", written):
        yield "exception_fallback", "catch"


def _assembly(read: Source, context: NodeContext) -> Rule:
    yield "inline_assembly", "asm"
    if re.search(r"\b(syscall|sysenter|int\s+\$0x80)\b", read.text(context.node)):
        yield "system_call", "asm"


def _small_float(read: Source, context: NodeContext) -> Rule:
    if read.text(context.node) in ("float", "_Float16", "__bf16", "__fp16"):
        yield "lower_precision", read.text(context.node)


def _typed(read: Source, context: NodeContext) -> Rule:
    yield from _word(read, context)
    yield from _small_float(read, context)


RULES = {
    "identifier": _word,
    "field_identifier": _word,
    "namespace_identifier": _word,
    "type_identifier": _typed,
    "primitive_type": _small_float,
    "function_definition": _definition,
    "declaration": _declaration,
    "field_declaration": _declaration,
    "preproc_call": _pragma,
    "preproc_def": _macro,
    "preproc_function_def": _macro,
    "concatenated_string": _string,
    "string_literal": _text,
    "binary_expression": _compared,
    "initializer_list": _table,
    "catch_clause": _caught,
    "gnu_asm_expression": _assembly,
}
