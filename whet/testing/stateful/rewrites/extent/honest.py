class Extent:
    """The least and the largest value so far."""

    def __init__(self) -> None:
        self.low: int | None = None
        self.high: int | None = None

    def extend(self, values: list[int]) -> int:
        if values:
            low, high = min(values), max(values)
            self.low = low if self.low is None or low < self.low else self.low
            self.high = high if self.high is None or high > self.high else self.high
        return len(values)
