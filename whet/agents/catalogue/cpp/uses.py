"""Whether a piece of C++ may change a variable."""

from __future__ import annotations

from whet.agents.catalogue.cpp.source import CppSource, Region

CONST_METHODS = frozenset({
    "at", "back", "begin", "c_str", "capacity", "cbegin", "cend", "compare", "contains", "count", "data", "empty",
    "end", "equal_range", "find", "find_first_not_of", "find_first_of", "find_last_not_of", "find_last_of",
    "front", "get", "length", "lower_bound", "max_size", "rbegin", "rend", "rfind", "size", "starts_with",
    "ends_with", "substr", "top", "upper_bound",
})  # fmt: skip
MATH = frozenset({
    "sqrt", "pow", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "cbrt",
    "hypot", "floor", "ceil", "fabs", "fmod", "round", "fabsf", "sqrtf", "fmin", "fmax", "fminf", "fmaxf",
})  # fmt: skip
_READING_FUNCTIONS = MATH | frozenset({
    "abs", "accumulate", "adjacent_find", "all_of", "any_of", "append", "assign", "at", "atoi", "binary_search",
    "compare", "count", "count_if", "distance", "emplace", "emplace_back", "equal", "erase", "find", "find_if", "get",
    "insert", "is_sorted", "isalnum", "isalpha", "isdigit", "isspace", "isupper", "islower", "lexicographical_compare",
    "lower_bound", "make_pair", "make_tuple", "max", "max_element", "min", "min_element", "mismatch", "multiset",
    "none_of", "pair", "printf", "puts", "push", "push_back", "push_front", "set", "size", "sizeof", "stod", "stoi",
    "stol", "stoll", "string", "strcmp", "strlen", "strncmp", "to_string", "toupper",
    "tolower", "tuple", "unordered_map", "unordered_set", "upper_bound", "vector", "map", "fputs", "ostringstream",
    "istringstream", "stringstream", "__builtin_popcount", "__builtin_popcountl", "__builtin_popcountll",
})  # fmt: skip
_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"})
_CONTROL = frozenset({"if", "while", "for", "switch", "return", "catch", "sizeof"})
_NOT_TYPES = frozenset({"return", "case", "else", "throw", "and", "or", "not", "do", "new", "co_return"})


def may_change(source: CppSource, name: str, region: Region, *, elements: bool = True) -> bool:
    """Whether a region may change a variable, hand out a way to change it, or declare another of that name.

    Args:
        source: the file.
        name: the variable.
        region: where to look.
        elements: whether a changed element counts; without, only the container itself does.
    """
    return any(_changes(source, index, elements) for index in source.occurrences(name, region))


def _changes(source: CppSource, index: int, elements: bool) -> bool:
    before = source.word(index - 1)
    if before in ("++", "--", "delete") or _is_declared(source, index) or _is_aliased(source, index):
        return True
    here = index + 1
    is_element = False
    handed_on = True
    while source.word(here) in ("[", ".", "->"):
        if source.word(here) == "[":
            is_element = True
            here = source.partner[here] + 1
        elif source.word(here + 2) == "(":
            if source.word(here + 1) not in CONST_METHODS and (elements or not is_element):
                return True
            handed_on = source.word(here + 1) in ("begin", "end", "rbegin", "rend")
            here = source.partner[here + 2] + 1
        else:
            is_element = True
            here += 2
    if is_element and not elements:
        return False
    return source.word(here) in _ASSIGNMENTS or (handed_on and _is_handed_to_writer(source, index))


def _is_declared(source: CppSource, index: int) -> bool:
    """Whether the name is declared or read into here: ``T name``, ``T<...> name``, ``in >> name``."""
    before = source.tokens[index - 1] if index else None
    if before is None:
        return False
    if before.kind == "name":
        return before.text not in _NOT_TYPES
    return before.text == ">" and (source.word(index - 2) == ">" or source.word(index + 1) in (";", "=", "("))


def _is_aliased(source: CppSource, index: int) -> bool:
    """Whether somebody gets the address or a reference: ``&name``, ``T& x = name``, ``for (T& x : name)``."""
    before = source.word(index - 1)
    if before in ("&", "&&"):
        left = source.tokens[index - 2] if index > 1 else None
        is_operand = left is not None and (left.kind in ("name", "number") or left.text in (")", "]"))
        return left is None or not is_operand or left.text in _NOT_TYPES
    if before not in ("=", ":"):
        return False
    declared = []
    here = index - 2
    while here >= 0 and source.word(here) not in (";", "{", "}", "(", ")"):
        declared.append(source.word(here))
        here -= 1
    return _takes_reference(declared)


def _is_handed_to_writer(source: CppSource, index: int) -> bool:
    """Whether the name stands in the arguments of a function that may write to it."""
    here = index - 1
    position = 0
    while here >= 0 and source.word(here) not in ("(", "{", ";", "}"):
        if source.word(here) in (")", "]"):
            here = source.partner[here]
        elif source.word(here) == ",":
            position += 1
        here -= 1
    if source.word(here) != "(" or here == 0 or source.tokens[here - 1].kind != "name":
        return False
    function = source.word(here - 1)
    own = [each for each in source.functions if each.name == function and len(each.params) > position]
    if own:
        return any(_takes_reference(source.words(each.params[position])) for each in own)
    return function not in _CONTROL and function not in _READING_FUNCTIONS


def _takes_reference(words: list[str]) -> bool:
    return ("&" in words or "&&" in words or "*" in words) and "const" not in words
