"""Cartons: prices by volume, and the labels of price lists."""


def price_list(volumes, tariff):
    """Returns the price of each volume in cents: the price of the smallest size that is large enough.

    Args:
        volumes: in cubic centimetres.
        tariff: tuples of size and price, in any order; volumes above all sizes cost twice the largest's price.
    """
    prices = []
    for volume in volumes:
        sizes = sorted(tariff)
        for size, price in sizes:
            if volume <= size:
                prices.append(price)
                break
        else:
            prices.append(2 * sizes[-1][1])
    return prices


def price_table(prices):
    """Returns a text with a line for each price."""
    text = ""
    for number, price in enumerate(prices):
        text += f"{number:>6} {price // 100:>5}.{price % 100:02d}\n"
    return text


def cheapest(prices):
    """Returns the number of the cheapest; -1 where there is none."""
    return prices.index(min(prices)) if prices else -1
