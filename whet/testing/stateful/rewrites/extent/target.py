class Extent:
    """The least and the largest value so far."""

    def __init__(self) -> None:
        self.low: int | None = None
        self.high: int | None = None

    def extend(self, values: list[int]) -> int:
        for value in values:
            if self.low is None or value < self.low:
                self.low = value
            if self.high is None or value > self.high:
                self.high = value
        return len(values)
