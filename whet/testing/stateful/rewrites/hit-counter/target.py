class Counter:
    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.hits = 0

    def count(self, values: list[int]) -> int:
        hits = 0
        for value in values:
            if value == self.wanted:
                hits += 1
        self.hits += hits
        return hits
