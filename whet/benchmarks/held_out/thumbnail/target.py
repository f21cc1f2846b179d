"""Makes small versions of pictures."""

import numpy as np


def brightness(pixel):
    red, green, blue = int(pixel[0]), int(pixel[1]), int(pixel[2])
    return (299 * red + 587 * green + 114 * blue) // 1000


def thumbnail(image, factor, paper):
    """Shrinks a picture: each pixel of the result is the mean of a square of pixels.

    Args:
        image: rows, columns and three colours, uint8. Squares at the right and lower edge may be smaller.
        factor: the side of a square, 1 or more.
        paper: the brightness from which a pixel of the result counts as paper and becomes white.

    Returns:
        The picture, uint8, and how many of its pixels have each brightness (256 of them), before paper becomes white.
    """
    height = image.shape[0]
    width = image.shape[1]
    rows = (height + factor - 1) // factor
    columns = (width + factor - 1) // factor
    small = np.zeros((rows, columns, 3), dtype=np.uint8)
    histogram = [0] * 256
    for r in range(rows):
        for c in range(columns):
            total = [0, 0, 0]
            count = 0
            for y in range(r * factor, min((r + 1) * factor, height)):
                for x in range(c * factor, min((c + 1) * factor, width)):
                    for channel in range(3):
                        total[channel] += int(image[y, x, channel])
                    count += 1
            for channel in range(3):
                small[r, c, channel] = total[channel] // count
            light = brightness(small[r, c])
            histogram[light] += 1
            if light >= paper:
                small[r, c] = [255, 255, 255]
    return small, histogram
