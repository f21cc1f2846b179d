from array import array

sizes = [1, 8, 24, 48]


def make_input(size, rng):
    splats, columns = 48 + rng.randrange(4), size + rng.randrange(5)
    places = array("f", [rng.uniform(0, size) for _ in range(2 * splats)])
    sharpness = array("f", [rng.uniform(0.002, 0.02) for _ in range(splats)])
    opacity = array("f", [rng.uniform(0.1, 0.9) for _ in range(splats)])
    colours = array("f", [rng.uniform(0.1, 1) for _ in range(3 * splats)])
    return places, sharpness, opacity, colours, splats, size, columns
