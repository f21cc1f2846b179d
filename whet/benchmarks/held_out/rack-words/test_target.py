from target import best_words


def test_nothing_to_lay():
    assert best_words([], "abc", 3, []) == ([], 0)
    assert best_words(["dog"], "abc", 3, []) == ([], 0)


def test_the_best_come_first_and_equal_ones_in_order():
    assert best_words(["cab", "tab", "bat", "at"], "cabt", 3, []) == ([("cab", 7, ""), ("bat", 5, ""), ("tab", 5, "")], 4)


def test_a_blank_brings_nothing():
    assert best_words(["quiz"], "qui?", 3, []) == ([("quiz", 12, "z")], 1)


def test_what_does_not_count():
    assert best_words(["Bob", "a", "a-b", "bob", "bob", "obo"], "bobo", 9, ["obo"]) == ([("bob", 7, "")], 1)


def test_all_seven_letters_bring_more():
    assert best_words(["nastier"], "nastier", 1, [])[0] == [("nastier", 57, "")]
