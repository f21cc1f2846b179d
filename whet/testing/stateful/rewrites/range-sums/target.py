class Sums:
    def __init__(self, values: list[int]) -> None:
        self.values = list(values)

    def extend(self, values: list[int]) -> None:
        self.values.extend(values)

    def query(self, ranges: list[tuple[int, int]]) -> list[int]:
        found = []
        for low, high in ranges:
            total = 0
            for value in self.values[low:high]:
                total += value
            found.append(total)
        return found
