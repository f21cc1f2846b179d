import pytest
from target import tokenise


def test_nothing():
    assert tokenise("  # only a comment") == []


def test_kinds_and_places():
    assert tokenise("let a1 =\n  2.50;") == [
        ("keyword", "let", 1, 1),
        ("name", "a1", 1, 5),
        ("operator", "=", 1, 8),
        ("number", "2.50", 2, 3),
        ("operator", ";", 2, 7),
    ]


def test_the_longest_operator_is_taken():
    assert [token[1] for token in tokenise("a<<=b<=-1.x")] == ["a", "<<=", "b", "<=", "-", "1", ".", "x"]


def test_strings_lose_their_quotes_and_escapes():
    assert tokenise(r'"a\"b\n\q"')[0][1] == 'a"b\n\\q'


@pytest.mark.parametrize(("source", "message"), [('\n"a\n"', "string in line 2"), ("a ?", "'\\?' in line 1, column 3")])
def test_what_is_no_token(source, message):
    with pytest.raises(SyntaxError, match=message):
        tokenise(source)
