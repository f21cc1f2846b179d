class RecentlyUsed:
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._values = {}
        self._order = []

    def put(self, key: int, value: int) -> None:
        if key in self._values:
            self._order.remove(key)
        elif len(self._values) == self.capacity:
            del self._values[self._order.pop(0)]
        self._order.append(key)
        self._values[key] = value

    def get(self, keys: list[int]) -> list[int]:
        return [self._one(key) for key in keys]

    def _one(self, key: int) -> int:
        for known in self._order:
            if known == key:
                self._order.remove(key)
                self._order.append(key)
                return self._values[key]
        return -1
