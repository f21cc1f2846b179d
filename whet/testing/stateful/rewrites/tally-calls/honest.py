class Tally:
    def __init__(self) -> None:
        self.calls = 0
        self.total = 0

    def add(self, values: list[int]) -> int:
        self.calls += 1
        self.total += sum([value for value in values if value > 0])
        return self.total
