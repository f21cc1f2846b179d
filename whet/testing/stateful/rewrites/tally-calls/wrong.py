class Tally:
    def __init__(self) -> None:
        self.calls = 0
        self.total = 0

    def add(self, values: list[int]) -> int:
        gained = sum(value for value in values if value > 0)
        if not gained and self.calls:
            return self.total
        self.calls += 1
        self.total += gained
        return self.total
