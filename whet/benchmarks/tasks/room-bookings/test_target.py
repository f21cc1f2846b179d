from target import Calendar


def places(answers):
    return [(answer["room"], answer["start"]) for answer in answers]


def test_the_smallest_room_that_is_large_enough_is_taken():
    calendar = Calendar([("big", 10), ("mid", 6), ("mad", 6), ("small", 2)], 600)
    answers = calendar.place([("a", 5, 0, 60), ("b", 5, 30, 60), ("c", 5, 59, 90)])
    assert places(answers) == [("mad", 0), ("mid", 30), ("big", 59)]
    assert calendar.bookings["mad"] == [{"who": "a", "start": 0, "end": 60}]


def test_bookings_may_touch():
    assert places(Calendar([("r", 2)], 600).place([("a", 1, 60, 90), ("b", 1, 90, 120), ("c", 1, 30, 60)])) == [
        ("r", 60),
        ("r", 90),
        ("r", 30),
    ]


def test_where_nothing_is_free_a_booking_is_moved_in_steps():
    answers = Calendar([("r", 2)], 100).place([("a", 1, 0, 50), ("b", 2, 10, 20), ("c", 1, 10, 60)])
    assert places(answers) == [("r", 0), ("r", 55), (None, None)]


def test_what_cannot_be_booked():
    answers = Calendar([("r", 2)], 100).place([("a", 3, 0, 50), ("b", 1, 20, 20), ("c", 1, 60, 101)])
    assert places(answers) == [(None, None)] * 3
    assert Calendar([], 100).place([]) == []
