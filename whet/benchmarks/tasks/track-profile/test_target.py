import pytest
from target import track_profile


def test_no_track_and_no_steps_have_no_profile():
    assert track_profile([], 3) == ([], 0.0, 0.0, 0.0)
    assert track_profile([(1.0, 1.0, 5.0)], 0) == ([], 0.0, 0.0, 0.0)


def test_a_degree_along_a_meridian_is_111_kilometres():
    profile, climb, descent, steepest = track_profile([(1.0, 5.0, 100.0), (2.0, 5.0, 300.0)], 2)
    assert [metres for metres, _ in profile] == pytest.approx([0.0, 55597.5, 111194.9], abs=0.1)
    assert [height for _, height in profile] == pytest.approx([100.0, 200.0, 300.0])
    assert (climb, descent) == pytest.approx((200.0, 0.0))
    assert steepest == pytest.approx(200 / 111194.9)


def test_ups_and_downs_are_apart():
    track = [(1.0, 5.0, 100.0), (2.0, 5.0, 300.0), (3.0, 5.0, 250.0)]
    assert track_profile(track, 2)[1:3] == pytest.approx((200.0, 50.0))


def test_a_track_that_stays_where_it_is():
    assert track_profile([(1.0, 1.0, 5.0), (1.0, 1.0, 9.0)], 1) == ([(0.0, 5.0), (0.0, 5.0)], 0.0, 0.0, 0.0)
