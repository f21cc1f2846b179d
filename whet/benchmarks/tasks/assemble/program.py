"""Assembles a program of a small machine.

Reads the source text from stdin. A line holds a label (`name:`), an instruction with up to two operands, or
`name = number`; what follows a `;` is a comment. Instructions take one word, with two operands two. Prints a listing of
addresses and words in hexadecimal, then the symbols by name, then the errors.
"""

import sys

OPCODES = [("nop", 0x00), ("load", 0x10), ("store", 0x11), ("add", 0x20), ("sub", 0x21), ("cmp", 0x30), ("jump", 0x40),
           ("jzero", 0x41), ("call", 0x50), ("ret", 0x51), ("halt", 0xFF)]  # fmt: skip


class Line:
    def __init__(self, number, text):
        self.number = number
        self.words = split_words(text)


def split_words(text):
    """Returns the words and signs of a line."""
    words = []
    while text != "":
        if text[0] == ";":
            break
        if text[0] in " \t,\r":
            text = text[1:]
        elif text[0].isalnum() or text[0] == "_":
            word = ""
            while text != "" and (text[0].isalnum() or text[0] == "_"):
                word = word + text[0]
                text = text[1:]
            words = words + [word]
        else:
            words = words + [text[0]]
            text = text[1:]
    return words


def find(table, name):
    """Returns what a table of pairs has for a name, or None."""
    for key, value in table:
        if key == name:
            return value
    return None


def is_label(line):
    return len(line.words) == 2 and line.words[1] == ":"


def is_definition(line):
    return len(line.words) == 3 and line.words[1] == "="


def size_of(line):
    return 2 if len(line.words) == 3 else 1


def collect_symbols(lines, errors):
    """The first pass: returns pairs of name and value."""
    symbols = []
    address = 0
    for line in lines:
        if is_label(line) or is_definition(line):
            name = line.words[0]
            if find(symbols, name) is not None:
                errors.append((line.number, f"{name} is there already"))
            elif is_label(line):
                symbols.append((name, address))
            elif line.words[2].isdecimal():
                symbols.append((name, int(line.words[2])))
            else:
                errors.append((line.number, f"{line.words[2]} is no number"))
        else:
            address += size_of(line)
    return symbols


def operand(line, word, symbols, errors):
    if word.isdecimal():
        return int(word)
    value = find(symbols, word)
    if value is None:
        errors.append((line.number, f"{word} is not known"))
        return 0
    return value


def main():
    lines = []
    for text in sys.stdin.read().split("\n"):
        line = Line(len(lines) + 1, text)
        lines.append(line)
    lines = [line for line in lines if len(line.words) > 0]
    errors = []
    symbols = collect_symbols(lines, errors)
    listing = ""
    address = 0
    for line in lines:
        if is_label(line) or is_definition(line):
            continue
        opcode = find(OPCODES, line.words[0].lower())
        if opcode is None:
            errors.append((line.number, f"no instruction {line.words[0]}"))
            opcode = 0
        values = [operand(line, word, symbols, errors) for word in line.words[1:3]]
        if len(line.words) > 3:
            errors.append((line.number, "too many operands"))
        listing = listing + f"{address:04x}  {opcode:02x}" + "".join(f" {value & 0xFFFF:04x}" for value in values) + "\n"
        address += size_of(line)
    for name in sorted([name for name, _ in symbols]):
        listing = listing + f"{name} = {find(symbols, name):04x}\n"
    for number, message in sorted(errors):
        listing = listing + f"line {number}: {message}\n"
    print(listing + f"{address} words, {len(symbols)} symbols, {len(errors)} errors")


main()
