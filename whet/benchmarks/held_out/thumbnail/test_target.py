import numpy as np
from target import thumbnail


def picture(*rows):
    return np.array([[[value] * 3 for value in row] for row in rows], dtype=np.uint8)


def test_means_are_rounded_down():
    small, histogram = thumbnail(picture([1, 2, 9], [3, 5, 9]), 2, 256)
    assert small.tolist() == [[[2, 2, 2], [9, 9, 9]]]
    assert (histogram[2], histogram[9], sum(histogram)) == (1, 1, 2)


def test_paper_becomes_white():
    small, histogram = thumbnail(picture([200], [199]), 1, 200)
    assert small[:, 0, 0].tolist() == [255, 199]
    assert histogram[200] == 1


def test_no_picture():
    small, histogram = thumbnail(np.zeros((0, 4, 3), dtype=np.uint8), 2, 200)
    assert small.shape == (0, 2, 3)
    assert sum(histogram) == 0
