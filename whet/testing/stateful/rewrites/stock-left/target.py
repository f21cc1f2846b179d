class Stock:
    def __init__(self) -> None:
        self.shipped = 0
        self.left = 0

    def receive(self, boxes: list[int]) -> None:
        self.left += sum(boxes)

    def ship(self, boxes: list[int]) -> int:
        total = 0
        for box in boxes:
            total = total + box
        self.shipped += total
        self.left -= total
        return self.left
