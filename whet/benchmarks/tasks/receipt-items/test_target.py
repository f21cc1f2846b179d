from target import Matcher


def test_an_empty_receipt():
    assert Matcher([("Milk", 3)]).match([]) == ([], {})


def test_misread_names_are_recognised_and_added_up():
    found, totals = Matcher([("Milk", 3), ("Bread", 9)]).match(["milk;100", "Mi1k ; 50", "Brxxd;200", "Brad;5"])
    assert found == [("Milk", 0, 100), ("Milk", 1, 50), ("Bread", 2, 200), ("Bread", 1, 5)]
    assert totals == {"Milk": 150, "Bread": 205}


def test_what_is_too_far_is_told_without_a_name():
    assert Matcher([("Milk", 3)]).match(["Cheese;1"]) == ([(None, None, 1)], {})


def test_of_equally_near_ones_the_one_that_sells_best_is_taken_then_the_first_by_name():
    assert Matcher([("cat", 1), ("bat", 2)]).match(["rat;1"])[0] == [("bat", 1, 1)]
    assert Matcher([("cat", 2), ("bat", 2)]).match(["rat;1"])[0] == [("bat", 1, 1)]


def test_other_lines_are_skipped():
    assert Matcher([("a", 1)]).match(["a", "a;b", "a;1;2", "a;-1", ";"]) == ([], {})
