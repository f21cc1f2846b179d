"""Assembles a program of a small machine."""

import sys

OPCODES = {"nop": 0x00, "load": 0x10, "store": 0x11, "add": 0x20, "sub": 0x21, "cmp": 0x30, "jump": 0x40,
           "jzero": 0x41, "call": 0x50, "ret": 0x51, "halt": 0xFF}  # fmt: skip
BLANKS = str.maketrans(",\t\r", "   ")


def split_words(text):
    words = []
    for piece in text.split(";", 1)[0].translate(BLANKS).split(" "):
        if piece.isalnum():
            words.append(piece)
        elif piece:
            words += signs_apart(piece)
    return words


def signs_apart(piece):
    words = []
    start = 0
    for at, letter in enumerate(piece):
        if letter != "_" and not letter.isalnum():
            if start < at:
                words.append(piece[start:at])
            words.append(letter)
            start = at + 1
    if start < len(piece):
        words.append(piece[start:])
    return words


def main():
    errors = []
    symbols = {}
    instructions = []
    address = 0
    for number, text in enumerate(sys.stdin.read().split("\n"), 1):
        words = split_words(text)
        count = len(words)
        if not count:
            continue
        if (count == 2 and words[1] == ":") or (count == 3 and words[1] == "="):
            name = words[0]
            if name in symbols:
                errors.append((number, f"{name} is there already"))
            elif count == 2:
                symbols[name] = address
            elif words[2].isdecimal():
                symbols[name] = int(words[2])
            else:
                errors.append((number, f"{words[2]} is no number"))
        else:
            instructions.append((number, address, words))
            address += 2 if count == 3 else 1
    out = []
    for number, at, words in instructions:
        opcode = OPCODES.get(words[0].lower())
        if opcode is None:
            errors.append((number, f"no instruction {words[0]}"))
            opcode = 0
        row = f"{at:04x}  {opcode:02x}"
        for word in words[1:3]:
            value = int(word) if word.isdecimal() else symbols.get(word)
            if value is None:
                errors.append((number, f"{word} is not known"))
                value = 0
            row += f" {value & 0xFFFF:04x}"
        if len(words) > 3:
            errors.append((number, "too many operands"))
        out.append(row)
    out += [f"{name} = {symbols[name]:04x}" for name in sorted(symbols)]
    out += [f"line {number}: {message}" for number, message in sorted(errors)]
    out.append(f"{address} words, {len(symbols)} symbols, {len(errors)} errors")
    sys.stdout.write("\n".join(out) + "\n")


main()
