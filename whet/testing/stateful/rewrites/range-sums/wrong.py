from itertools import accumulate


class Sums:
    def __init__(self, values: list[int]) -> None:
        self.values = list(values)
        self._prefix: list[int] | None = None

    def extend(self, values: list[int]) -> None:
        self.values.extend(values)

    def query(self, ranges: list[tuple[int, int]]) -> list[int]:
        if self._prefix is None:
            self._prefix = list(accumulate(self.values, initial=0))
        prefix, last = self._prefix, len(self._prefix) - 1
        return [prefix[max(low, min(high, last))] - prefix[low] if low < last else 0 for low, high in ranges]
