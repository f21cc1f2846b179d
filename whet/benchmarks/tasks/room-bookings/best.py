"""The rooms of a meeting centre and who has them when."""

from bisect import bisect_left, bisect_right

STEP = 15


class Room:
    """The starts and ends of a room's bookings, which never overlap, in the order of time."""

    def __init__(self, name, seats, bookings):
        self.name = name
        self.seats = seats
        self.bookings = bookings
        self.starts = []
        self.ends = []
        for booking in sorted(bookings, key=lambda booking: booking["start"]):
            self.starts.append(booking["start"])
            self.ends.append(booking["end"])

    def steps(self, start, length, most):
        """Returns by how many steps a booking has to move to find the room free; more than `most` if it cannot."""
        moved = 0
        at = bisect_right(self.ends, start)
        while at < len(self.starts) and self.starts[at] < start + moved * STEP + length and moved <= most:
            moved = -((start - self.ends[at]) // STEP)
            at += 1
            while at < len(self.ends) and self.ends[at] <= start + moved * STEP:
                at += 1
        return moved

    def book(self, who, start, end):
        at = bisect_left(self.starts, start)
        self.starts.insert(at, start)
        self.ends.insert(at, end)
        self.bookings.append({"who": who, "start": start, "end": end})


class Calendar:
    def __init__(self, rooms, closing):
        self.rooms = rooms
        self.closing = closing
        self.bookings = {}
        for name, _ in rooms:
            self.bookings[name] = []

    def is_free(self, room, start, end):
        for booking in self.bookings[room]:
            if start < booking["end"] and booking["start"] < end:
                return False
        return True

    def rooms_by_size(self):
        return sorted(self.rooms, key=lambda room: (room[1], room[0]))

    def find_room(self, seats, start, end):
        """Returns the smallest room that is large enough and free, or None."""
        free = [room for room in self.rooms_by_size() if room[1] >= seats and self.is_free(room[0], start, end)]
        if len(free) > 0:
            return free[0][0]
        return None

    def place(self, requests):
        rooms = [Room(name, seats, self.bookings[name]) for name, seats in self.rooms]
        rooms.sort(key=lambda room: (room.seats, room.name))
        sizes = [room.seats for room in rooms]
        answers = []
        for who, seats, start, end in requests:
            length = end - start
            fewest = (self.closing - end) // STEP
            chosen = None
            if length > 0:
                for room in rooms[bisect_left(sizes, seats) :]:
                    moved = room.steps(start, length, fewest)
                    if moved <= fewest:
                        chosen = room
                        fewest = moved - 1
                        if not moved:
                            break
            if chosen is None:
                answers.append({"who": who, "room": None, "start": None})
                continue
            start += (fewest + 1) * STEP
            chosen.book(who, start, start + length)
            answers.append({"who": who, "room": chosen.name, "start": start})
        return answers
