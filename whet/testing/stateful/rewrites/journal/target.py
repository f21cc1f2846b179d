class Journal:
    def __init__(self) -> None:
        self.entries: list[str] = []

    def write(self, words: list[str]) -> str:
        line = ""
        for word in words:
            line = line + word + " "
        line = line.strip()
        self.entries.append(line)
        return line

    def size(self) -> int:
        return len(self.entries)
