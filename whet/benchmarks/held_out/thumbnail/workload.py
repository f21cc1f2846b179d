"""Pages that were scanned: paper that is nearly white, with lines of writing and coloured spots."""

import numpy as np

sizes = [0, 1, 3, 12, 60, 120, 160]


def make_input(size, rng):
    numbers = np.random.default_rng(rng.randrange(2**32))
    height, width = size, max(0, size - rng.randrange(4)) if size > 3 else size
    image = numbers.integers(225, 256, size=(height, width, 3), dtype=np.uint8)
    for _ in range(size // 4):
        y, x = rng.randrange(height), rng.randrange(width)
        image[y : y + rng.randrange(1, 4), x : x + rng.randrange(1, 30)] //= rng.choice((2, 4, 8))
    return image, 4, rng.randrange(215, 235)


def valid(args):
    image, factor, paper = args
    return image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3 and 1 <= factor < 10**6


def check(args, output):
    small, histogram = output
    assert small.dtype == np.uint8
    assert sum(histogram) == small.shape[0] * small.shape[1]


def make_input_odd(size, rng):
    """Narrow pictures, of one colour, of black and white; squares larger than the picture; all paper, and none."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    height, width = rng.choice(((size, size), (1, size), (size, 1), (size, 0), (size // 2, size)))
    levels = rng.choice(([0], [255], [0, 255], [127, 128], [0, 1, 2, 3]))
    image = numbers.choice(np.array(levels, dtype=np.uint8), size=(height, width, 3))
    return image, rng.choice((1, 2, 3, 7, size + 1)), rng.choice((0, 1, 128, 255, 256, -1))
