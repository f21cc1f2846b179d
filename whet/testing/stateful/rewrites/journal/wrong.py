class Journal:
    def __init__(self) -> None:
        self.entries: list[str] = []

    def write(self, words: list[str]) -> str:
        line = " ".join(words)
        self.entries = [line]
        return line

    def size(self) -> int:
        return len(self.entries)
