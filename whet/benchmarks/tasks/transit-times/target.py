"""Travel times in a network of lines."""


class Network:
    """Stops that lines link, in both directions.

    Args:
        links: tuples of two stops, the line between them and the minutes that it takes.
    """

    def __init__(self, links):
        self.links = links

    def stops(self):
        """Returns all stops, in the order in which the links name them."""
        found = []
        for one, other, _, _ in self.links:
            if one not in found:
                found.append(one)
            if other not in found:
                found.append(other)
        return found

    def rides_from(self, stop):
        """Returns where one can ride to from a stop: tuples of stop, line and minutes."""
        rides = []
        for one, other, line, minutes in self.links:
            if one == stop:
                rides.append((other, line, minutes))
            if other == stop:
                rides.append((one, line, minutes))
        return rides

    def times(self, start, change):
        """Finds the quickest ways.

        Args:
            start: the stop to start from, on any line.
            change: minutes that changing to another line takes.

        Returns:
            A dict of reachable stops to tuples of minutes and the line of arrival (the first by name of equally quick
            ones, None at the start), in the order of the time, then of the name; and the other stops, sorted.
        """
        best = {(start, None): 0}
        done = []
        while True:
            nearest = None
            for place in best:
                if place not in done and (nearest is None or best[place] < best[nearest]):
                    nearest = place
            if nearest is None:
                break
            done.append(nearest)
            stop, line = nearest
            for other, other_line, minutes in self.rides_from(stop):
                total = best[nearest] + minutes
                if line is not None and other_line != line:
                    total += change
                if (other, other_line) not in best or total < best[(other, other_line)]:
                    best[(other, other_line)] = total
        reached = {}
        for stop in [start] + self.stops():
            arrivals = [(best[place], place[1] or "") for place in best if place[0] == stop]
            if len(arrivals) > 0 and stop not in reached:
                minutes, line = min(arrivals)
                reached[stop] = (minutes, line or None)
        ordered = {}
        for stop in sorted(reached, key=lambda stop: (reached[stop][0], stop)):
            ordered[stop] = reached[stop]
        return ordered, sorted([stop for stop in self.stops() if stop not in reached])
