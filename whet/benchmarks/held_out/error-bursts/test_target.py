from target import report

LINES = [
    "2024-05-03 10:00:00,000 ERROR [db] lost 12",
    "2024-05-03 10:00:01,500 INFO  [db] fine",
    "2024-05-03 10:00:02,000 FATAL [db] lost 7",
    "2024-05-03 10:00:02,001 ERROR [web] lost 0xff",
    "what?",
    "2024-05-03 10:00:04,000 ERROR [db] Lost  9",
    "2024-05-03 10:00:09,000 ERROR [db] lost it",
]


def test_an_empty_log():
    assert report("", 10, 1) == {"bursts": [], "messages": [], "unreadable": 0}


def test_a_burst_lasts_while_errors_come():
    found = report("\n".join(LINES), 4, 2)
    assert found["bursts"] == [{"component": "db", "since": "2024-05-03T10:00:02", "most": 3}]
    assert found["unreadable"] == 1


def test_the_window_includes_its_edge():
    assert report("\n".join(LINES), 2, 2)["bursts"][0]["most"] == 2
    assert report("\n".join(LINES), 1, 2)["bursts"] == []


def test_messages_that_differ_in_numbers_are_one():
    assert report("\n".join(LINES), 1, 9)["messages"] == [("lost <n>", 3), ("lost <hex>", 1), ("lost it", 1)]
