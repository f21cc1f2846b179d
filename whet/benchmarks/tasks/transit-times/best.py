"""Travel times in a network of lines."""

from heapq import heappop, heappush


class Network:
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
        rides = {}
        for one, other, line, minutes in self.links:
            rides.setdefault(one, []).append((other, line, minutes))
            rides.setdefault(other, []).append((one, line, minutes))
        best = {(start, None): 0}
        done = set()
        waiting = [(0, start, "", None)]
        while waiting:
            spent, stop, _, line = heappop(waiting)
            if (stop, line) in done:
                continue
            done.add((stop, line))
            for other, other_line, minutes in rides.get(stop, ()):
                total = spent + minutes
                if line is not None and other_line != line:
                    total += change
                place = (other, other_line)
                if place not in best or total < best[place]:
                    best[place] = total
                    heappush(waiting, (total, other, other_line, other_line))
        reached = {}
        for (stop, line), spent in best.items():
            arrival = (spent, line or "")
            if stop not in reached or arrival < reached[stop]:
                reached[stop] = arrival
        ordered = {
            stop: (spent, line or None)
            for stop, (spent, line) in sorted(reached.items(), key=lambda item: (item[1][0], item[0]))
        }
        return ordered, sorted(rides.keys() - reached.keys())
