"""Addresses and bus stops of a town."""

sizes = [0, 1, 5, 30, 120, 220, 280]


def make_input(size, rng):
    side = 40 * size + 500
    addresses = [(rng.randrange(side), rng.randrange(side)) for _ in range(size)]
    stops = [(f"stop {number}", rng.randrange(side), rng.randrange(side), rng.randrange(10, 200)) for number in range(size)]
    return addresses, stops, 600


def valid(args):
    """Whole metres within the size of a continent, so that distances are as exact as their squares."""
    addresses, stops, reach = args
    numbers = [n for address in addresses for n in address] + [n for stop in stops for n in stop[1:3]]
    return (
        all(len(address) == 2 for address in addresses)
        and all(len(stop) == 4 for stop in stops)
        and all(type(n) is int and abs(n) < 5 * 10**6 for n in numbers)
        and type(reach) is int
        and 0 <= reach < 10**7
    )


def check(args, output):
    addresses, stops, reach = args
    assert len(output) == len(addresses)
    assert all(row is None or (row["metres"] <= reach and 1 <= row["stops"] <= len(stops)) for row in output)


def make_input_odd(size, rng):
    """Stops on one spot, at equal distances, right at the edge of reach, west and south of the origin."""
    spread = rng.choice((1, 3, 10, 100))
    addresses = [(rng.randrange(-spread, spread + 1), rng.randrange(-spread, spread + 1)) for _ in range(size)]
    stops = [
        (rng.choice("abcé"), rng.randrange(-spread, spread + 1), rng.randrange(-spread, spread + 1), rng.choice((0, 1, 5)))
        for _ in range(rng.randrange(size + 1))
    ]
    return addresses, stops, rng.choice((0, 1, 2, 5, 25, 10**6))
