from target import Network


def test_a_start_without_links():
    assert Network([]).times("a", 3) == ({"a": (0, None)}, [])


def test_changing_takes_time():
    network = Network([("a", "b", "1", 4), ("b", "c", "2", 4), ("a", "c", "3", 10)])
    assert network.times("a", 3)[0] == {"a": (0, None), "b": (4, "1"), "c": (10, "3")}
    assert network.times("a", 1)[0]["c"] == (9, "2")


def test_staying_on_a_line_is_quicker_than_the_quickest_way_to_its_stop():
    network = Network([("a", "b", "slow", 5), ("a", "b", "fast", 4), ("b", "c", "slow", 1)])
    assert network.times("a", 9)[0] == {"a": (0, None), "b": (4, "fast"), "c": (6, "slow")}


def test_of_equally_quick_lines_the_first_by_name_is_told():
    assert Network([("a", "b", "2", 4), ("a", "b", "1", 4)]).times("a", 0)[0]["b"] == (4, "1")


def test_stops_come_by_time_and_the_others_apart():
    network = Network([("c", "a", "1", 2), ("b", "a", "1", 2), ("y", "x", "9", 1)])
    reached, others = network.times("a", 0)
    assert (list(reached), others) == (["a", "b", "c"], ["x", "y"])
