from target import log_report

LINE = "2024-03-01T10:00:00 {} {} {} {}ms"


def test_an_empty_log_gives_an_empty_report():
    assert log_report("") == ([], 0)


def test_numbers_in_paths_are_one_endpoint():
    text = "\n".join([LINE.format("GET", "/users/1", 200, 5), LINE.format("GET", "/users/22", 503, 9)])
    assert log_report(text) == ([("GET /users/{id}", 2, 1, 9)], 0)


def test_endpoints_are_sorted_and_methods_apart():
    lines = [LINE.format("PUT", "/b", 200, 1), LINE.format("GET", "/b", 200, 2), LINE.format("GET", "/a", 404, 3)]
    assert [row[0] for row in log_report("\n".join(lines))[0]] == ["GET /a", "GET /b", "PUT /b"]


def test_other_lines_are_skipped_and_a_blank_one_ends_the_log():
    text = "\n".join(["-- rotated --", LINE.format("GET", "/a", 200, 1), "  ", LINE.format("GET", "/b", 200, 1)])
    assert log_report(text) == ([("GET /a", 1, 0, 1)], 1)
