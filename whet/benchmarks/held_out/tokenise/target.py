"""Splits the source text of a small language into tokens."""

KEYWORDS = ["let", "if", "else", "while", "for", "fn", "return", "true", "false", "nil", "and", "or", "not", "import"]
OPERATORS = ["<<=", ">>=", "==", "!=", "<=", ">=", "+=", "-=", "*=", "->", "&&", "||", "<<", ">>"]
OPERATORS = OPERATORS + ["+", "-", "*", "/", "%", "<", ">", "=", "!", "(", ")", "{", "}", "[", "]", ",", ";", ":", "."]
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
DIGITS = "0123456789"


def position(source, rest):
    """Returns line and column, from 1, of where the rest of the source begins."""
    done = source[: len(source) - len(rest)]
    lines = done.split("\n")
    return len(lines), len(lines[-1]) + 1


def take_while(text, allowed):
    taken = ""
    while text != "" and text[0] in allowed:
        taken = taken + text[0]
        text = text[1:]
    return taken


def tokenise(source):
    """Splits a source text.

    Returns:
        Tuples of kind, text, line and column: keyword, name, number, string (without its quotes, escapes replaced) or
        operator. Blanks and comments (from '#' to the end of the line) are left out.

    Raises:
        SyntaxError: a character that begins no token, or a string that does not end in its line.
    """
    tokens = []
    rest = source
    while len(rest) > 0:
        line, column = position(source, rest)
        if rest[0] in " \t\r\n":
            rest = rest[1:]
        elif rest[0] == "#":
            while rest != "" and rest[0] != "\n":
                rest = rest[1:]
        elif rest[0] in LETTERS:
            word = take_while(rest, LETTERS + DIGITS)
            tokens.append(("keyword" if word in KEYWORDS else "name", word, line, column))
            rest = rest[len(word) :]
        elif rest[0] in DIGITS:
            number = take_while(rest, DIGITS)
            rest = rest[len(number) :]
            if len(rest) > 1 and rest[0] == "." and rest[1] in DIGITS:
                fraction = take_while(rest[1:], DIGITS)
                number = number + "." + fraction
                rest = rest[len(fraction) + 1 :]
            tokens.append(("number", number, line, column))
        elif rest[0] == '"':
            text = ""
            rest = rest[1:]
            while rest != "" and rest[0] != '"' and rest[0] != "\n":
                if rest[0] == "\\" and len(rest) > 1 and rest[1] in '"\\nt':
                    text = text + {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}[rest[1]]
                    rest = rest[2:]
                else:
                    text = text + rest[0]
                    rest = rest[1:]
            if rest == "" or rest[0] == "\n":
                raise SyntaxError(f"string in line {line} does not end")
            tokens.append(("string", text, line, column))
            rest = rest[1:]
        else:
            for operator in OPERATORS:
                if rest.startswith(operator):
                    tokens.append(("operator", operator, line, column))
                    rest = rest[len(operator) :]
                    break
            else:
                raise SyntaxError(f"unexpected {rest[0]!r} in line {line}, column {column}")
    return tokens
