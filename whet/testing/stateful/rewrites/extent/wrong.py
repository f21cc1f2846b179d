class Extent:
    """The least and the largest value so far."""

    def __init__(self) -> None:
        self.low: int | None = None
        self.high: int | None = None

    def extend(self, values: list[int]) -> int:
        if values:
            low, high = min(values), max(values)
            if self.low is None or self.high is None:
                self.low, self.high = low, high
            else:
                self.high, self.low = min(self.low, low), max(self.high, high)
        return len(values)
