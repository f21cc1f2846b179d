from target import matmul


def test_rows_meet_columns():
    assert matmul([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]) == [[19.0, 22.0], [43.0, 50.0]]


def test_the_inner_length_goes():
    assert matmul([[1.0, 2.0, 3.0]], [[1.0], [10.0], [100.0]]) == [[321.0]]
    assert matmul([[1.0], [2.0]], [[3.0, 4.0]]) == [[3.0, 4.0], [6.0, 8.0]]


def test_no_rows_have_no_product():
    assert matmul([], [[1.0]]) == []
