from target import census


def test_no_reads_have_no_kmers():
    assert census([], 3, 1) == ([], 0)


def test_both_strands_count_as_one():
    assert census(["AAC", "gtt"], 3, 1) == ([("AAC", 2, 2)], 0)


def test_the_frequent_come_first_and_equal_ones_by_name():
    assert census(["AAAAC", "CC"], 2, 1)[0] == [("AA", 3, 1), ("AC", 1, 1), ("CC", 1, 1)]


def test_rare_ones_are_left_out_and_unread_places_skipped():
    assert census(["AAANAAA"], 3, 2) == ([("AAA", 2, 1)], 3)
    assert census(["AAC"], 3, 2) == ([], 0)
