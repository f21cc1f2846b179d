from target import Sheet


def test_an_empty_sheet():
    assert Sheet({}).values() == ({}, [], {})


def test_formulas_are_computed_from_left_to_right():
    cells = {"A1": 2, "A2": "=A1+3*4", "A3": "= A2 - A1", "B1": "note"}
    assert Sheet(cells).values()[:2] == ({"A1": 2, "A2": 20, "A3": 18, "B1": "note"}, [])


def test_sums_skip_texts_and_empty_cells():
    assert Sheet({"A1": 2, "A2": "x", "A4": 5, "B1": "=SUM(A1:A4)"}).values()[0]["B1"] == 7


def test_a_circle_is_an_error_and_so_is_what_needs_it():
    found, errors, _ = Sheet({"A4": "=SUM(A2:A3)", "A1": "=A2", "A2": "=A1", "A3": "=A1+1", "A5": 1}).values()
    assert (errors, found["A5"]) == (["A1", "A2", "A3", "A4"], 1)


def test_what_cannot_be_read_is_an_error():
    found, errors, _ = Sheet({"A1": "=", "A2": "=1+", "A3": "=a", "A4": "=B1+1", "A5": "=A6", "A6": "x"}).values()
    assert (errors, found["A4"]) == (["A1", "A2", "A3", "A5"], 1)


def test_columns_are_summed_up():
    assert Sheet({"A1": -2, "A2": "x", "A3": "=A1-3", "BC7": 4, "D1": "=D1"}).values()[2] == {
        "A": (2, -7, -2),
        "BC": (1, 4, 4),
    }
