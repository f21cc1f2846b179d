from target import build_order


def package(name, *needs, minutes=1):
    return {"name": name, "needs": list(needs), "minutes": minutes}


def test_nothing_is_built_at_once():
    assert build_order([]) == ([], {}, [], [])


def test_what_is_needed_is_built_before_and_equal_ones_by_name():
    order, finished, stuck, external = build_order([package("c", "b"), package("b", minutes=3), package("a")])
    assert order == ["a", "b", "c"]
    assert finished == {"a": 1, "b": 3, "c": 4}
    assert (stuck, external) == ([], [])


def test_a_package_that_becomes_ready_goes_before_later_names():
    assert build_order([package("b"), package("a", "b"), package("c")])[0] == ["b", "a", "c"]


def test_circles_and_what_waits_for_them_are_told():
    packages = [package("x", "y"), package("y", "x"), package("z", "x"), package("a", "libc", "libc")]
    order, _, stuck, external = build_order(packages)
    assert (order, stuck, external) == (["a"], ["x", "y", "z"], ["libc"])
