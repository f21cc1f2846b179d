class Counter:
    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.hits = 0

    def count(self, values: list[int]) -> int:
        hits = values.count(self.wanted)
        self.hits += hits
        return hits
