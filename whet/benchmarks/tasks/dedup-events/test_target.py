from target import dedup_events


def test_nothing_gives_nothing():
    assert dedup_events([], []) == ([], {"repeated": 0, "muted": 0})


def test_the_first_of_equal_events_is_kept():
    events = [(1, "a", "up", "k"), (2, "a", "up", "k"), (3, "a", "up", "other")]
    assert dedup_events(events, []) == ([events[0], events[2]], {"repeated": 1, "muted": 0})


def test_source_kind_and_key_all_count():
    events = [(1, "a", "up", "k"), (1, "b", "up", "k"), (1, "a", "down", "k")]
    assert dedup_events(events, [])[0] == events


def test_muted_sources_are_dropped_before_they_are_compared():
    events = [(1, "a", "up", "k"), (2, "a", "up", "k"), (3, "b", "up", "k")]
    assert dedup_events(events, ["a", "z"]) == ([events[2]], {"repeated": 0, "muted": 2})


def test_the_input_is_left_alone():
    events, muted = [(1, "a", "up", "k")], ["b"]
    dedup_events(events, muted)
    assert (events, muted) == ([(1, "a", "up", "k")], ["b"])
