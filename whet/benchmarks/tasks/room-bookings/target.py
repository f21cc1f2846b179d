"""The rooms of a meeting centre and who has them when."""

STEP = 15
"""Minutes: what a request is moved by where no room is free."""


class Calendar:
    """Bookings of rooms.

    Args:
        rooms: tuples of name and seats; names are distinct.
        closing: minute at which the centre closes.
    """

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
        """Books rooms, one request after the other.

        Args:
            requests: tuples of who asks, seats, first minute and minute after the last.

        Returns:
            For each request a dict with ``who``, ``room`` and ``start``. Where no room is free, the booking is moved in
            steps to the earliest later time of the same length that is; room and start are None where there is none
            until closing or where a booking would have no length.
        """
        answers = []
        for who, seats, start, end in requests:
            length = end - start
            room = None
            if length > 0:
                while room is None and start + length <= self.closing:
                    room = self.find_room(seats, start, start + length)
                    if room is None:
                        start += STEP
            if room is None:
                answers.append({"who": who, "room": None, "start": None})
                continue
            self.bookings[room].append({"who": who, "start": start, "end": start + length})
            answers.append({"who": who, "room": room, "start": start})
        return answers
