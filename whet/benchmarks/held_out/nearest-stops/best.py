"""Finds the bus stops around addresses."""


def nearest_stops(addresses, stops, reach):
    width = max(reach, 1)
    cells = {}
    for index, (_, x, y, departures) in enumerate(stops):
        cells.setdefault((x // width, y // width), []).append((x, y, -departures, index))
    limit = reach * reach
    around = {}
    result = []
    for x, y in addresses:
        column, row = x // width, y // width
        near = around.get((column, row))
        if near is None:
            near = []
            for c in (column - 1, column, column + 1):
                for r in (row - 1, row, row + 1):
                    near += cells.get((c, r), ())
            around[column, row] = near
        best = None
        count = 0
        total = 0
        for stop_x, stop_y, less, index in near:
            square = (x - stop_x) ** 2 + (y - stop_y) ** 2
            if square <= limit:
                count += 1
                total -= less
                if best is None or square <= best[0]:
                    candidate = (square, less, index)
                    if best is None or candidate < best:
                        best = candidate
        if best is None:
            result.append(None)
        else:
            result.append(
                {"stop": stops[best[2]][0], "metres": round(best[0] ** 0.5, 1), "stops": count, "departures": total}
            )
    return result
