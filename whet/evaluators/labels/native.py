"""Labels of C and C++ changes, from the two syntax trees."""

from __future__ import annotations

import re
from functools import partial

from whet.evaluators.labels.base import Features
from whet.evaluators.syntax.native import NodeContext, Source, child

CONTAINERS = {
    "set": "ordered set", "map": "ordered map", "multiset": "ordered set", "multimap": "ordered map",
    "unordered_set": "hash set", "unordered_map": "hash map", "unordered_multiset": "hash set",
    "priority_queue": "heap", "deque": "deque", "queue": "deque", "bitset": "bitset", "vector": "vector",
    "list": "linked list", "array": "array", "make_heap": "heap", "string_view": "string view", "span": "span",
    "flat_map": "sorted vector",
}  # fmt: skip
VECTOR = re.compile(
    r"_mm(256|512)?_\w+|__m(128|256|512)[id]?|v(ld1|st1|add|mul|fma)q?_\w+|svld1\w*|vector_size|ext_vector_type"
)
SIMD = re.compile(r"#\s*pragma\s+(omp\s+(parallel\s+for\s+)?simd|GCC\s+ivdep|clang\s+loop\s+vectorize)")
FLAGS = re.compile(
    r"#\s*pragma\s+(GCC|clang)\s+(optimize|target|attribute).*|__attribute__\s*\(\(\s*(optimize|target)\b.*"
)
INPUT_OUTPUT = {
    "fread", "fwrite", "getchar_unlocked", "putchar_unlocked", "fread_unlocked", "fwrite_unlocked", "sync_with_stdio",
    "from_chars", "to_chars", "scanf", "printf", "puts", "fputs", "read", "write", "mmap",
}  # fmt: skip
ALGORITHMS = {
    "sort", "stable_sort", "nth_element", "partial_sort", "accumulate", "partial_sum", "inner_product", "lower_bound",
    "upper_bound", "binary_search", "count", "count_if", "find", "find_if", "max_element", "min_element",
    "minmax_element", "reverse", "rotate", "unique", "copy", "fill", "memcpy", "memmove", "memset", "memchr", "strchr",
    "strlen", "iota", "transform", "reduce", "qsort", "gcd",
}  # fmt: skip
HEADERS = re.compile(r"(cblas|lapacke|Eigen/|mkl|fftw|boost/|tbb/|absl/|xsimd)")
FLOATS = {"float", "_Float16", "__bf16", "__fp16"}
MEMO = re.compile(r"return\s+([A-Za-z_]\w*)\s*[\[.(]")


def reader(language: str) -> partial[Features]:
    """Returns what reads a language's features."""
    return partial(_read, language)


def _read(language: str, source: str, other: str) -> Features:
    """Returns the features of a text; what stands in both sides cancels out where the two are compared."""
    found = Features()
    read = Source.parse(language, source)
    if read is None:
        return found
    function = ""
    for context in read.walk():
        node, line = context.node, context.node.start_point[0] + 1
        kind = node.type
        if kind == "function_definition":
            function = _name(read, context)
        elif kind in ("for_statement", "while_statement", "do_statement", "for_range_loop"):
            found.loops += 1
            found.statements += 1
            found.depth = max(found.depth, context.loops + 1)
            condition = read.text(child(node, "condition"))
            (found.ranges if kind == "for_statement" else found.conditions)[_nameless(condition)] += bool(condition)
        elif kind in ("break_statement", "return_statement") and context.loops:
            found.leaves += 1
        elif kind == "call_expression":
            whole = read.text(child(node, "function")).partition("<")[0]
            callee = re.split(r"::|\.|->", whole)[-1]
            if callee == function:
                found.recursive.add(callee)
            if callee in INPUT_OUTPUT:
                found.libraries.setdefault(callee, set()).add(line)
            if callee in ALGORITHMS and "." not in whole and "->" not in whole:
                found.helpers.setdefault(callee, set()).add(line)
        elif kind in ("identifier", "type_identifier", "primitive_type"):
            _word(read.text(node), line, found)
        elif kind == "preproc_include" and (match := HEADERS.search(read.text(node))):
            found.libraries.setdefault(match[0], set()).add(line)
        elif kind == "preproc_call":
            text = " ".join(read.text(node).split())
            if SIMD.match(text):
                found.vectors.setdefault("simd pragma", set()).add(line)
            if FLAGS.match(text):
                found.flags.setdefault(text, set()).add(line)
        elif kind in ("attribute_specifier", "gnu_attribute") and FLAGS.match(read.text(node)):
            found.flags.setdefault(read.text(node), set()).add(line)
        elif kind == "gnu_asm_expression":
            found.kernels.setdefault("assembly", set()).add(line)
        elif (
            kind == "if_statement"
            and (match := MEMO.search(read.text(child(node, "consequence"))))
            and re.search(rf"\b{match[1]}\s*[\[.]", read.text(child(node, "condition")))
        ):
            found.caches.setdefault(f"table {match[1]}", set()).add(line)
    return found


def _name(read: Source, context: NodeContext) -> str:
    declarator = child(context.node, "declarator")
    while declarator is not None and (inner := child(declarator, "declarator")) is not None:
        declarator = inner
    return read.text(declarator).rpartition("::")[2]


def _word(word: str, line: int, found: Features) -> None:
    if kind := CONTAINERS.get(word):
        found.structures.setdefault(kind, set()).add(line)
    if VECTOR.fullmatch(word):
        found.vectors.setdefault(word, set()).add(line)
    if word in FLOATS:
        found.precision.setdefault(word, set()).add(line)


def _nameless(text: str) -> str:
    words = re.sub(r"\b[A-Za-z_]\w*(\s*\.\s*(size|length)\s*\(\s*\))?", "n", text)
    return re.sub(r"\(\s*n\s*\)\s*", "", re.sub(r"\s+", "", words).strip("()"))[:80]
